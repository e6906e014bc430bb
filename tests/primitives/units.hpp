// P3, P4, P5 and P7: matrix instructions on memory that says where each operand came from.
#pragma once

#include <array>
#include <vector>

#include "primitive.hpp"
#include "tessera/core/small_float.hpp"
#include "tessera/layout/layout.hpp"
#include "tessera/ops/descriptor.hpp"

namespace tessera::primitives {

/// One instruction m64n16k16 of bf16: both operands as bytes of shared memory, by descriptors.
struct UnitRun {
  static constexpr int n = 16, k = 16, halves_of_a = 8192, halves_of_b = 4096;
  static constexpr std::uint32_t b_at = halves_of_a * 2;  ///< B after A, in bytes
  std::vector<bf16> a, b;
  std::uint64_t descriptor_a = 0, descriptor_b = 0;  ///< of shared memory that begins at 0
  Major major_a = Major::k, major_b = Major::k;
};

/// An operand's layout, and the depth from which an instruction reads.
struct OperandCase {
  const char* name;
  Major a, b;
  SwizzleMode mode;
  int from;        ///< along k
  int depth = 64;  ///< of the whole tile
};
extern const std::vector<OperandCase> kRowCases, kOtherCases;  ///< of P3, of P4

/// A holds a digit of each element's place (7 bits, digit 0 or 1), B a unit vector in each column:
/// the sums are the places from which row m was read at depth n.
UnitRun unit_run(const OperandCase& now, int digit);
/// The sums (64,16), by rows, as `multiply` computes them, of all cases.
template <class Multiply>
Dump record_reads(const std::vector<OperandCase>& cases, const Multiply& multiply) {
  Dump out;
  for (const OperandCase& now : cases) {
    const std::vector<float> low = multiply(unit_run(now, 0)), high = multiply(unit_run(now, 1));
    for (std::size_t i = 0; i < low.size(); ++i)
      out.push_back(static_cast<std::uint32_t>(low[i] + 128 * high[i]));
  }
  return out;
}

/// P5: 1000 m + n, in the order (thread, value) of the warpgroup's registers.
UnitRun numbered_run();
inline constexpr int kValues = UnitRun::n / 2;

/// P7: operands of D (16,8) = A (16,16) * B (8,16)^T + C, k contiguous, for each tile.
struct Chains {
  static constexpr int tiles = 64;
  std::vector<double> a, b, c;
};
Chains chains();
inline Dump bits_of_doubles(const std::vector<double>& values) {
  Dump out(values.size() * 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto bits = std::bit_cast<std::uint64_t>(values[i]);
    out[2 * i] = static_cast<std::uint32_t>(bits),
            out[2 * i + 1] = static_cast<std::uint32_t>(bits >> 32);
  }
  return out;
}

}  // namespace tessera::primitives
