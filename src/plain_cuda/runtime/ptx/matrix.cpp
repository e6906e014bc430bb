// Inline PTX: ldmatrix, stmatrix and mma. The elements of each lane: PTX ISA, "Warp-level Matrix
// Instructions". With g = lane / 4, t = lane % 4 and p elements in a register, register j of A has
// the elements (g + 8 (j % 2), p t + 4 p (j / 2) + e) if A has 16 rows, register j of B (p t + 4 p
// j + e, g), and C and D have pairs (g + 8 i, 2 t + e).
#include <algorithm>
#include <cmath>

#include "plain_cuda/runtime/context.hpp"
#include "plain_cuda/runtime/meeting.hpp"
#include "ptx.hpp"
#include "tessera/core/recorder.hpp"
#include "tessera/plain_cuda/parts/async.h"
#include "tessera/plain_cuda/parts/narrow.h"
#include "tessera/plain_cuda/parts/thread.h"

namespace tessera::plain_cuda::ptx_detail {

namespace {

constexpr Type kRegister{'u', 32};

int matrices_of(const Instruction& in) { return in.has("x4") ? 4 : in.has("x2") ? 2 : 1; }
const Operand& part(const Operand& whole, int i) {
  return whole.kind == Operand::Kind::vector ? whole.parts[static_cast<std::size_t>(i)] : whole;
}

void load_matrix(Machine& m, const Instruction& in) {
  const int count = matrices_of(in), lane = lane_index() & 31;
  if (in.types.empty() || in.type().bits != 16 || !in.has("m8n8")) m.refuse(in, "is not supported");
  std::byte row[16] = {};
  if (lane < 8 * count)
    load_told(row, m.address(in.operands[1], in, true), sizeof row, here_of(m.place));
  const std::byte* const rows = exchange(row, sizeof row, "ldmatrix", m.place);
  const int g = lane / 4, t = lane % 4;
  for (int i = 0; i < count; ++i) {
    std::uint16_t pair[2];
    for (int e = 0; e < 2; ++e) {
      const int r = in.has("trans") ? 2 * t + e : g, column = in.has("trans") ? g : 2 * t + e;
      std::memcpy(&pair[e], rows + static_cast<std::size_t>(8 * i + r) * kSlot + 2 * column, 2);
    }
    m.write(part(in.operands[0], i), static_cast<std::uint64_t>(pair[1]) << 16 | pair[0],
            kRegister);
  }
}

void store_matrix(Machine& m, const Instruction& in) {
  const int count = matrices_of(in), lane = lane_index() & 31;
  if (in.types.empty() || in.type().bits != 16 || !in.has("m8n8")) m.refuse(in, "is not supported");
  std::uint32_t mine[4] = {};
  for (int i = 0; i < count; ++i)
    mine[i] = static_cast<std::uint32_t>(m.read(part(in.operands[1], i), kRegister));
  const std::byte* const all = exchange(mine, sizeof mine, "ldmatrix", m.place);
  if (lane >= 8 * count) return;
  std::byte row[16];
  for (int column = 0; column < 8; ++column) {
    const int r = in.has("trans") ? column : lane % 8, c = in.has("trans") ? lane % 8 : column;
    const int holder = 4 * r + c / 2;
    std::memcpy(row + 2 * column,
                all + static_cast<std::size_t>(holder) * kSlot + 4 * (lane / 8) + 2 * (c % 2), 2);
  }
  store_told(m.address(in.operands[0], in, true), row, sizeof row, here_of(m.place));
}

/// An mma's shape and types.
struct Shape {
  int m, n, k;
  Type d, a, b;
  int a_registers = 0, b_registers = 0, d_registers = 0;
  bool saturates = false;
  int packed() const { return a.bits >= 32 ? 1 : 32 / a.bits; }
  std::size_t register_bytes() const { return a.bits == 64 ? 8 : 4; }
};

Shape shape_of(Machine& m, const Instruction& in) {
  Shape out{};
  for (const std::string& word : in.words) {
    if (std::sscanf(word.c_str(), "m%dn%dk%d", &out.m, &out.n, &out.k) == 3) break;
  }
  const bool is_known = out.n == 8 && (out.m == 16 || out.m == 8) && in.has("row") &&
                        in.has("col") && in.types.size() == 4 && in.operands.size() == 4;
  if (!is_known)
    m.refuse(in, "is not supported: of mma.sync the row.col shapes m16n8 and m8n8 are");
  out.d = in.types[0], out.a = in.types[1], out.b = in.types[2];
  out.saturates = in.has("satfinite");
  const int per_row = out.k / (4 * out.packed());
  out.a_registers = per_row * out.m / 8;
  out.b_registers = per_row;
  out.d_registers = out.d.bits == 16 ? out.m / 8 : out.m / 4;
  const auto has = [&](std::size_t i, int count) {
    const Operand& o = in.operands[i];
    return (o.kind == Operand::Kind::vector ? static_cast<int>(o.parts.size()) : 1) == count;
  };
  if (per_row == 0 || !has(0, out.d_registers) || !has(1, out.a_registers) ||
      !has(2, out.b_registers) || !has(3, out.d_registers))
    m.refuse(in, "has other registers than its shape");
  return out;
}

double element(const Shape& s, Type type, const std::byte* registers, int j, int e) {
  const std::byte* const at =
      registers + static_cast<std::size_t>(j) * s.register_bytes() + e * type.bits / 8;
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, static_cast<std::size_t>(type.bits / 8));
  if (type.kind == 's') return static_cast<std::int8_t>(bits);
  if (type.kind == 'u') return static_cast<double>(bits);
  if (type.bits == 64) return cast_bits<double>(bits);
  if (type.kind == 't') return static_cast<double>(cast_bits<float>(bits & 0xffffe000u));
  return static_cast<double>(
      narrow_value(type.kind == 'h' ? kBfloat16 : kHalf, static_cast<std::uint32_t>(bits)));
}

/// D's element (row, n), from the lanes' fragments, added to c.
double dot(const Shape& s, const std::byte* all, int row, int n, double c) {
  const int p = s.packed();
  for (int k = 0; k < s.k; ++k) {
    const int t = k / p % 4, e = k % p, block = k / (4 * p);
    const int a_register = s.m == 16 ? row / 8 + 2 * block : block;
    const std::byte* const a = all + static_cast<std::size_t>(row % 8 * 4 + t) * kSlot;
    const std::byte* const b = all + static_cast<std::size_t>(n * 4 + t) * kSlot +
                               static_cast<std::size_t>(s.a_registers) * s.register_bytes();
    const double x = element(s, s.a, a, a_register, e), y = element(s, s.b, b, block, e);
    // Products of narrow numbers are exact in float, and sums are rounded as float.
    if (s.d.kind == 's') c += x * y;  // exact
    else
      c = s.d.bits == 64 ? std::fma(x, y, c) : static_cast<double>(static_cast<float>(c + x * y));
  }
  return c;
}

double sum_of(const Shape& s, std::uint64_t bits) {
  if (s.d.kind == 's') return static_cast<std::int32_t>(bits);
  if (s.d.bits == 64) return cast_bits<double>(bits);
  if (s.d.bits == 32) return static_cast<double>(cast_bits<float>(bits));
  return static_cast<double>(narrow_value(kHalf, static_cast<std::uint32_t>(bits)));
}
std::uint64_t bits_of_sum(const Shape& s, double value) {
  if (s.d.kind == 's') {
    constexpr double kLowest = -2147483648.0, kLargest = 2147483647.0;
    if (s.saturates) value = std::clamp(value, kLowest, kLargest);
    return static_cast<std::uint32_t>(static_cast<std::int64_t>(value));
  }
  if (s.d.bits == 64) return to_bits(value);
  if (s.d.bits == 32) return to_bits(static_cast<float>(value));
  return narrow_bits(kHalf, value);
}

void multiply(Machine& m, const Instruction& in) {
  const Shape s = shape_of(m, in);
  std::byte mine[kSlot] = {};
  const Type reg{'b', static_cast<int>(s.register_bytes()) * 8};
  for (int i = 0; i < s.a_registers + s.b_registers; ++i) {
    const bool is_a = i < s.a_registers;
    const std::uint64_t bits =
        m.read(part(in.operands[is_a ? 1 : 2], is_a ? i : i - s.a_registers), reg);
    std::memcpy(mine + static_cast<std::size_t>(i) * s.register_bytes(), &bits, s.register_bytes());
  }
  const std::byte* const all = exchange(mine, sizeof mine, "mma", m.place);
  tell_matrix_flops(std::int64_t{2} * s.m * s.n * s.k / 32, m.place);
  const int lane = lane_index() & 31, g = lane / 4, t = lane % 4, each = s.d.bits == 16 ? 2 : 1;
  std::uint64_t out[8] = {};
  bool is_empty = false;
  for (int i = 0; i < s.d_registers; ++i) {
    const std::uint64_t c = m.read(part(in.operands[3], i), {'b', s.d.bits * each});
    is_empty = is_empty || c == (s.d.bits == 64 ? tessera::detail::unwritten_bits<double>()
                                                : tessera::detail::unwritten_bits<float>());
    for (int e = 0; e < each; ++e) {
      const int pair = i * each + e;
      const double was = sum_of(s, each == 2 ? c >> 16 * e & 0xffff : c);
      out[i] |= bits_of_sum(s, dot(s, all, g + 8 * (pair / 2), 2 * t + pair % 2, was)) << 16 * e;
    }
  }
  if (is_empty) tell_empty_fragment(m.place);
  for (int i = 0; i < s.d_registers; ++i)
    m.write(part(in.operands[0], i), out[i], {'b', s.d.bits * each});
}

}  // namespace

std::vector<Known> matrix_instructions() {
  constexpr const char* loaded = "sync aligned m8n8 x1 x2 x4 trans shared shared::cta";
  constexpr const char* shapes =
      "sync aligned row col m8n8k4 m8n8k16 m16n8k4 m16n8k8 m16n8k16 m16n8k32 satfinite";
  return {{"ldmatrix", load_matrix, loaded},
          {"stmatrix", store_matrix, loaded},
          {"mma", multiply, shapes}};
}

}  // namespace tessera::plain_cuda::ptx_detail
