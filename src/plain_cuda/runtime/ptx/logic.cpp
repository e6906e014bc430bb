// Inline PTX: bits, moves, branches.
#include <bit>

#include "plain_cuda/runtime/context.hpp"
#include "ptx.hpp"
#include "tessera/plain_cuda/parts/math.h"

namespace tessera::plain_cuda::ptx_detail {

namespace {

std::uint64_t in(Machine& m, const Instruction& at, std::size_t operand, Type type) {
  if (operand >= at.operands.size()) m.refuse(at, "has fewer operands than expected");
  return m.read(at.operands[operand], type);
}

/// cvta between generic and shared addresses changes the value, mov does not.
void move(Machine& m, const Instruction& at) {
  m.write(at.operands[0], in(m, at, 1, at.type()), at.type());
}
void convert_address(Machine& m, const Instruction& at) {
  const std::uint64_t from = in(m, at, 1, at.type());
  std::uint64_t to = from;
  if (at.is_shared() && at.has("to")) to = shared_address(reinterpret_cast<const void*>(from));
  else if (at.is_shared())
    to = reinterpret_cast<std::uint64_t>(shared_pointer(static_cast<std::uint32_t>(from)));
  m.write(at.operands[0], to, at.type());
}

template <class F>
void two(Machine& m, const Instruction& at, F f) {
  m.write(at.operands[0], f(in(m, at, 1, at.type()), in(m, at, 2, at.type())), at.type());
}
void bit_and(Machine& m, const Instruction& at) {
  if (at.type().kind == 'p')
    return m.write(at.operands[0], m.test(at.operands[1]) && m.test(at.operands[2]), {'p', 8});
  two(m, at, [](std::uint64_t a, std::uint64_t b) { return a & b; });
}
void bit_or(Machine& m, const Instruction& at) {
  if (at.type().kind == 'p')
    return m.write(at.operands[0], m.test(at.operands[1]) || m.test(at.operands[2]), {'p', 8});
  two(m, at, [](std::uint64_t a, std::uint64_t b) { return a | b; });
}
void bit_xor(Machine& m, const Instruction& at) {
  two(m, at, [](std::uint64_t a, std::uint64_t b) { return a ^ b; });
}
void bit_not(Machine& m, const Instruction& at) {
  const std::uint64_t a = in(m, at, 1, at.type());
  m.write(at.operands[0],
          at.type().kind == 'p' ? static_cast<std::uint64_t>(!m.test(at.operands[1])) : ~a,
          at.type());
}
void shift_left(Machine& m, const Instruction& at) {
  const std::uint64_t by = in(m, at, 2, kWord);
  m.write(at.operands[0],
          by >= static_cast<std::uint64_t>(at.type().bits) ? 0 : in(m, at, 1, at.type()) << by,
          at.type());
}
void shift_right(Machine& m, const Instruction& at) {
  const Type type = at.type();
  const std::uint64_t by =
      std::min<std::uint64_t>(in(m, at, 2, kWord), static_cast<std::uint64_t>(type.bits));
  const std::uint64_t a = in(m, at, 1, type);
  if (type.kind == 's') {
    const int up = 64 - type.bits;
    const auto wide = static_cast<std::int64_t>(a << up) >> up;
    return m.write(at.operands[0],
                   static_cast<std::uint64_t>(wide >> std::min<std::uint64_t>(by, 63)), type);
  }
  m.write(at.operands[0], by >= static_cast<std::uint64_t>(type.bits) ? 0 : a >> by, type);
}
/// shf.l.wrap.b32 d, a, b, c: a is the lower word.
void funnel(Machine& m, const Instruction& at) {
  const std::uint64_t both = in(m, at, 2, kWord) << 32 | in(m, at, 1, kWord);
  std::uint64_t by = in(m, at, 3, kWord);
  by = at.has("wrap") ? by & 31 : std::min<std::uint64_t>(by, 32);
  m.write(at.operands[0], at.has("l") ? both << by >> 32 : both >> by, kWord);
}

void permute(Machine& m, const Instruction& at) {
  const std::uint64_t bytes = in(m, at, 2, kWord) << 32 | in(m, at, 1, kWord),
                      selector = in(m, at, 3, kWord);
  std::uint64_t out = 0;
  for (int i = 0; i < 4; ++i) {
    const std::uint64_t which = selector >> 4 * i & 15;
    std::uint64_t byte = bytes >> 8 * (which & 7) & 0xff;
    if (which > 7) byte = (byte & 0x80) != 0 ? 0xff : 0;  // its sign
    out |= byte << 8 * i;
  }
  m.write(at.operands[0], out, kWord);
}
void lookup(Machine& m, const Instruction& at) {
  const std::uint64_t a = in(m, at, 1, kWord), b = in(m, at, 2, kWord), c = in(m, at, 3, kWord),
                      table = in(m, at, 4, kWord);
  std::uint64_t out = 0;
  for (int i = 0; i < 32; ++i)
    out |= (table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i;
  m.write(at.operands[0], out, kWord);
}
void extract_bits(Machine& m, const Instruction& at) {
  const Type type = at.type();
  const auto width = static_cast<std::uint64_t>(type.bits);
  const std::uint64_t a = in(m, at, 1, type), first = in(m, at, 2, kWord) & 0xff,
                      count = in(m, at, 3, kWord) & 0xff;
  std::uint64_t out = 0;
  const bool is_signed = type.kind == 's';
  const std::uint64_t top = std::min(first + count - 1, width - 1);
  const bool sign = is_signed && count > 0 && (a >> top & 1) != 0;
  for (std::uint64_t i = 0; i < width; ++i) {
    const bool bit = i < count && first + i < width ? (a >> (first + i) & 1) != 0 : sign;
    out |= static_cast<std::uint64_t>(bit) << i;
  }
  m.write(at.operands[0], out, type);
}
void insert_bits(Machine& m, const Instruction& at) {
  const Type type = at.type();
  const auto width = static_cast<std::uint64_t>(type.bits);
  const std::uint64_t a = in(m, at, 1, type), first = in(m, at, 3, kWord) & 0xff,
                      count = in(m, at, 4, kWord) & 0xff;
  std::uint64_t out = in(m, at, 2, type);
  for (std::uint64_t i = 0; i < count && first + i < width; ++i)
    out = (out & ~(1ull << (first + i))) | (a >> i & 1) << (first + i);
  m.write(at.operands[0], out, type);
}
void count_ones(Machine& m, const Instruction& at) {
  m.write(at.operands[0], static_cast<std::uint64_t>(std::popcount(in(m, at, 1, at.type()))),
          kWord);
}
void leading_zeros(Machine& m, const Instruction& at) {
  m.write(
      at.operands[0],
      static_cast<std::uint64_t>(std::countl_zero(in(m, at, 1, at.type())) - (64 - at.type().bits)),
      kWord);
}
void reverse(Machine& m, const Instruction& at) {
  m.write(at.operands[0], __brevll(in(m, at, 1, at.type())) >> (64 - at.type().bits), at.type());
}
void find_bit(Machine& m, const Instruction& at) {
  const Type type = at.type();
  std::uint64_t a = in(m, at, 1, type);
  if (type.kind == 's' && (a >> (type.bits - 1) & 1) != 0)
    a = ~a & (type.bits == 64 ? ~0ull : (1ull << type.bits) - 1);
  const int found = 63 - std::countl_zero(a);
  const int shown = a == 0 ? -1 : at.has("shiftamt") ? type.bits - 1 - found : found;
  m.write(at.operands[0], static_cast<std::uint64_t>(shown), kWord);
}

void branch(Machine& m, const Instruction& at) { m.next = at.target; }
void leave(Machine&, const Instruction&) { throw Abandon{.is_exit = true}; }
void nothing(Machine&, const Instruction&) {}

}  // namespace

std::vector<Known> logic_instructions() {
  constexpr const char* spaces = "to shared global local const param shared::cta shared::cluster";
  return {{"mov", move, ""},
          {"cvta", convert_address, spaces},
          {"and", bit_and, ""},
          {"or", bit_or, ""},
          {"xor", bit_xor, ""},
          {"not", bit_not, ""},
          {"shl", shift_left, ""},
          {"shr", shift_right, ""},
          {"shf", funnel, "l r wrap clamp"},
          {"prmt", permute, ""},
          {"lop3", lookup, ""},
          {"bfe", extract_bits, ""},
          {"bfi", insert_bits, ""},
          {"popc", count_ones, ""},
          {"clz", leading_zeros, ""},
          {"brev", reverse, ""},
          {"bfind", find_bit, "shiftamt"},
          {"bra", branch, "uni"},
          {"exit", leave, ""},
          {"nop", nothing, ""}};
}

}  // namespace tessera::plain_cuda::ptx_detail
