// The requested product: C = epilogue(alpha * A * B + beta * C), as a value that prints, compares
// and can be parsed from its text. A is (M,K), B is (K,N), C is (M,N); any strides. Transposition
// has become a
// stride before this point.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tessera/matmul/matrix.hpp"
#include "tessera/ops/epilogue.hpp"

namespace tessera {

struct Epilogue {
  Activation activation = Activation::none;
  Bias bias = Bias::none;
  double low = kLeast<double>, high = kMost<double>;  ///< C is clamped to [low, high], last
  bool operator==(const Epilogue&) const = default;
};

/// Its last step in the accumulator's type.
template <class Acc>
LastStep<Acc> last_step(const Epilogue& e) {
  return {e.activation, e.low == kLeast<double> ? kLeast<Acc> : static_cast<Acc>(e.low),
          e.high == kMost<double> ? kMost<Acc> : static_cast<Acc>(e.high)};
}

/// i8 or u8: A may be of one and B of the other.
constexpr bool is_byte(DType type) { return type == DType::i8 || type == DType::u8; }
constexpr bool is_f8(DType type) { return type == DType::f8e4m3 || type == DType::f8e5m2; }

struct Strides {
  index_t row = 0, col = 1;
  bool operator==(const Strides&) const = default;
};

struct Problem {
  index_t M = 0, N = 0, K = 0;
  DType in = DType::f32;   ///< element type of A and B
  DType out = DType::f32;  ///< element type of C
  Strides a, b, c;         ///< in elements
  double alpha = 1, beta = 0;
  Epilogue epilogue;
  std::optional<DType> in_b = {};  ///< element type of B, where it is another: i8 beside u8

  /// The element type of B.
  DType type_of_b() const { return in_b.value_or(in); }
  /// 2 * M * N * K.
  double flops() const {
    return 2.0 * static_cast<double>(M) * static_cast<double>(N) * static_cast<double>(K);
  }
  bool operator==(const Problem&) const = default;
};

/// "m=64 n=32 k=16 in=f32 out=f32 a=16:1 b=32:1 c=32:1 alpha=1 beta=0 bias=none activation=none";
/// numbers round-trip. A clamp adds "clamp=low:high", a B of another type "in_b=i8".
std::string to_string(const Problem& problem);
/// Inverse of to_string; fields may be left out (defaults: compact row-major strides, f32). Throws
/// Error(argument).
Problem parse_problem(std::string_view text);

/// Builds the problem of C = alpha * A * B + beta * C and checks everything that can be wrong with
/// it: extents that do not fit ("multiply: A has 64 columns but B has 32 rows"), negative or
/// overflowing extents and strides, element types without a product, null pointers, rows of C that
/// overlap each other, C overlapping A or B, gelu or silu of whole numbers, an empty clamp. Reads
/// no element.
///
/// C and A (or B) may be windows of one buffer: of rows, of columns, of both, of interleaved rows
/// or columns, of the matrix or of its transpose. Whether an element is in both is decided exactly,
/// from addresses and strides alone. The exception: strides that cannot come from slicing one
/// buffer, and for which a search of bounded length is inconclusive, are refused
/// (src/base/overlap.hpp).
Problem make_problem(const ConstMatrix& A, const ConstMatrix& B, const Matrix& C, double alpha = 1,
                     double beta = 0, Epilogue epilogue = {});

}  // namespace tessera
