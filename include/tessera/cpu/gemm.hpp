// The packed path: C = alpha * A * B + beta * C at the speed of the CPU, for callers that have
// checked their arguments (matmul and the BLAS functions do). Not a kernel of the ladder: it blocks
// for the caches, packs panels, and runs register-tiled microkernels of this CPU's instruction set.
//
// f32 and f64: one element of C is one chain of fused multiply-adds in order of k, then the
// epilogue of core/finish.hpp, for every shape, stride, instruction set and number of
// threads: the bits are those of the reference. (Arithmetic::lanes asks for another order of
// products in dot form, which depends on shape and strides alone.) f16 and bf16 are converted to
// f32 and summed the same way; where the CPU multiplies pairs of them (AVX512_BF16, AMX), these
// sums have the bits of that instruction instead. i8 and u8 are summed exactly, modulo 2^32; into
// float, each sum is rounded to float before the epilogue, whose alpha is the scale of what was
// quantized.
#pragma once

#include <cstdint>

#include "tessera/core/arithmetic.hpp"
#include "tessera/core/config.hpp"
#include "tessera/core/finish.hpp"

namespace tessera::cpu {

/// Elements of A and of B where these are of different types, as in quantized layers: A of uint8_t
/// and B of int8_t, or the other way round. Gemm<U8I8, std::int32_t> and the like.
struct U8I8 {};
struct I8U8 {};

/// The element types of A and B, and the same for the transposed product, C' = B' A'.
template <class In>
struct OperandTypes {
  using A = In;
  using B = In;
  using Swapped = In;
};
template <>
struct OperandTypes<U8I8> {
  using A = std::uint8_t;
  using B = std::int8_t;
  using Swapped = I8U8;
};
template <>
struct OperandTypes<I8U8> {
  using A = std::int8_t;
  using B = std::uint8_t;
  using Swapped = U8I8;
};
template <class In>
using ElementA = typename OperandTypes<In>::A;
template <class In>
using ElementB = typename OperandTypes<In>::B;

/// The vector that is added to C: one value for each row, M of them, or for each column, N.
template <class Scalar>
struct BiasVector {
  Bias kind = Bias::none;
  const Scalar* values = nullptr;

  /// What is added to C(i, j), or null.
  const Scalar* at(index_t i, index_t j) const {
    return kind == Bias::none ? nullptr : values + (kind == Bias::per_row ? i : j);
  }
};

/// Where the sums over K begin: at zero, or, of a K that comes in parts, with what C holds of the
/// parts before. These continue as one chain would: all parts together have the bits of the whole,
/// where each but the last is a multiple of 64 deep. For alpha = 1, beta = 0, no bias and no last
/// step, C of the type of the sums, its columns contiguous.
enum class Chain : std::uint8_t { begins, goes_on };

/// The arguments of a product. A is (M,K), B is (K,N), C is (M,N); strides in elements, any sign;
/// transposition
/// is a stride. C overlaps neither A nor B, and its elements do not overlap. In and Out: double,
/// float, f16, bf16 into the same type; f16, bf16 into float, float into f16, bf16; int8_t,
/// uint8_t, U8I8, I8U8 into int32_t or float.
template <class In, class Out = In>
struct Gemm {
  using Sum = Accumulator<ElementA<In>>;  ///< of a sum over K
  using Scalar = Accumulator<Out>;        ///< of the epilogue

  index_t M = 0, N = 0, K = 0;
  const ElementA<In>* A = nullptr;
  index_t a_row = 0, a_col = 1;
  const ElementB<In>* B = nullptr;
  index_t b_row = 0, b_col = 1;
  Out* C = nullptr;
  index_t c_row = 0, c_col = 1;
  Scalar alpha{1};  ///< 0: A and B are not read
  Scalar beta{0};   ///< 0: C is not read
  BiasVector<Scalar> bias{};
  LastStep<Scalar> last{};  ///< activation and clamp
  int threads = 0;          ///< upper limit; 0: default_threads()
  Chain chain = Chain::begins;
  /// lanes: double and float in dot form are summed as tessera/cpu/lanes.hpp says, unless `chain`
  /// goes on
  Arithmetic arithmetic = Arithmetic::chain;
};

/// Runs it. Throws nothing; without memory for packing it takes a slower route that needs none.
template <class In, class Out = In>
void gemm(const Gemm<In, Out>& call);

/// C = alpha A B + beta C of float or double if it is tiny (about 48 in each extent, or as much
/// work in few columns), without a Gemm object: for callers for which nanoseconds matter. Extents
/// at least 1; the rows of B and those of C are contiguous. False, and nothing done, where the
/// product is not tiny, or alpha is 0.
template <class T>
bool gemm_if_tiny(index_t M, index_t N, index_t K, const T* A, index_t a_row, index_t a_col,
                  const T* B, index_t b_row, T* C, index_t c_row, T alpha = T{1}, T beta = T{0});

/// Do bf16 products, or f16 products, keep the bits of the f32 chain on this CPU?
bool bf16_keeps_the_chain();
bool f16_keeps_the_chain();

}  // namespace tessera::cpu
