// The packed path: C = alpha * A * B + beta * C at the speed of the CPU, for callers that have
// checked their arguments (matmul and the BLAS functions do). Not a kernel of the ladder: it blocks
// for the caches, packs panels, and runs register-tiled microkernels of this CPU's instruction set.
//
// f32 and f64: one element of C is one chain of fused multiply-adds in order of k, then the one
// epilogue expression of core/finish.hpp, for every shape, stride, instruction set and number of
// threads: the bits are those of the reference.
#pragma once

#include "tessera/core/config.hpp"
#include "tessera/core/finish.hpp"

namespace tessera::cpu {

/// What is asked. T: float or double. A is (M,K), B is (K,N), C is (M,N); strides in elements, any
/// sign; transposition is a stride. C overlaps neither A nor B, and its elements do not overlap.
template <class T>
struct Gemm {
  index_t M = 0, N = 0, K = 0;
  const T* A = nullptr;
  index_t a_row = 0, a_col = 1;
  const T* B = nullptr;
  index_t b_row = 0, b_col = 1;
  T* C = nullptr;
  index_t c_row = 0, c_col = 1;
  T alpha{1};                      ///< 0: A and B are not read
  T beta{0};                       ///< 0: C is not read
  const T* row_bias = nullptr;     ///< M values, or null
  const T* column_bias = nullptr;  ///< N values, or null
  Activation activation = Activation::none;
  int threads = 0;  ///< at most so many; 0: default_threads()
};

/// Runs it. Throws nothing; without memory for packing it takes a slower way that needs none.
template <class T>
void gemm(const Gemm<T>& call);

}  // namespace tessera::cpu
