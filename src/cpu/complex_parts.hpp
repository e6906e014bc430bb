// Complex products as real ones: with the real and imaginary parts of A as separate rows and those
// of B as separate columns, one real product has the four sums of each element of C:
//
//     re = sum(re a * re b) - sum(im a * im b)        im = sum(re a * im b) + sum(im a * re b)
//
// Each sum is one chain of K fused multiply-adds in order of k; they are combined once, at the end,
// and then scaled. A conjugated factor changes signs only where they are combined. So the bits do
// not depend on the number of threads, the instruction set, the storage order or the neighbours.
// Packing separates the parts of lines that are not adjacent; the epilogue of a micro-tile combines
// them. Blocks, tasks and micro-tiles are those of the real product: their extents are even.
#pragma once

#include <cstdint>

#include "kernels.hpp"
#include "tessera/cpu/gemm.hpp"

namespace tessera {

template <class R>
struct AccumulatorOf<cpu::ComplexPart<R>> {
  using type = R;
};

namespace cpu {

template <class T>
inline constexpr bool kIsComplexPart = false;
template <class R>
inline constexpr bool kIsComplexPart<ComplexPart<R>> = true;

/// M, N: twice those of the complex product. Strides of lines, a_row, b_col, c_row and c_col: from
/// one complex element to the next, in complex elements: line 2 i + p, part p of line i, begins
/// 2 i strides and p parts after line 0. Strides along K: the same, in parts.
template <class R>
struct Gemm<ComplexPart<R>, ComplexPart<R>> {
  using Sum = R;
  using Scalar = R;

  index_t M = 0, N = 0, K = 0;
  const ComplexPart<R>* A = nullptr;
  index_t a_row = 0, a_col = 2;
  const ComplexPart<R>* B = nullptr;
  index_t b_row = 0, b_col = 1;
  ComplexPart<R>* C = nullptr;
  index_t c_row = 0, c_col = 1;
  Scalar alpha{1}, beta{0};  ///< not 0 where those of `combination` are not
  BiasVector<Scalar> bias{};
  LastStep<Scalar> last{};
  int threads = 0;
  Chain chain = Chain::begins;
  Arithmetic arithmetic = Arithmetic::chain;
  Combination<R> combination{};
};

template <class R>
using ComplexGemm = Gemm<ComplexPart<R>, ComplexPart<R>>;

}  // namespace cpu
}  // namespace tessera
