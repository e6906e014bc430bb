// Products with few elements of C and a long K, as chains: see chains.hpp. Called by gemm.cpp.
#pragma once

#include "choose_kernels.hpp"
#include "epilogue.hpp"
#include "small.hpp"

namespace tessera::cpu {

/// Elements of C that two tiles of chains hold.
constexpr index_t kFewSums = 16;

/// Do vectors along the longer side of C read contiguous elements?
template <class T>
bool suits_vectors(const Gemm<T>& call) {
  return (call.b_col == 1 && call.N >= call.M) || (call.a_row == 1 && call.M >= 4 * call.N);
}

/// One tile of chains is as fast as a product of so long a K can be. Two are better than vectors
/// that would have to be transposed first, unless one instruction does that for a whole cache line.
template <class T>
bool is_for_chains(const Gemm<T>& call, const Kernels<T, T, T>& kernels) {
  if (call.M > kFewSums || call.N > kFewSums || call.M * call.N > kFewSums) return false;
  constexpr index_t short_k = 16;
  if (kernels.chains == nullptr || call.K <= short_k) return false;
  const bool is_one_tile = call.M <= 8 && call.N <= 8 && call.M * call.N <= kMostChains;
  const bool is_better = is_one_tile ? call.K > kTiny || call.b_col != 1
                                     : !suits_vectors(call) && !transposes<T>(kernels.lanes);
  return is_better && bounded_product(call.M + call.N, call.K, sizeof(T)) <= caches().l2 / 2;
}

template <class T>
[[gnu::noinline]] void multiply_chains(const Gemm<T>& call, const Kernels<T, T, T>& kernels) {
  alignas(64) T sums[kFewSums * kFewSums];
  const bool plain = is_plain(call);
  T* const to = plain ? call.C : sums;
  const index_t to_row = plain ? call.c_row : kFewSums;
  int rows = static_cast<int>(call.M), cols = static_cast<int>(call.N);
  if (rows > 8 || cols > 8 || rows * cols > kMostChains) {
    int& longer = rows >= cols ? rows : cols;
    longer = (longer + 1) / 2;
  }
  for (index_t i = 0; i < call.M; i += rows)
    for (index_t j = 0; j < call.N; j += cols)
      kernels.chains({call.K, call.A + i * call.a_row, call.a_row, call.a_col,
                      call.B + j * call.b_col, call.b_row, call.b_col, to + i * to_row + j, to_row},
                     static_cast<int>(std::min<index_t>(rows, call.M - i)),
                     static_cast<int>(std::min<index_t>(cols, call.N - j)));
  if (!plain)
    finish_tile(call, call.C, kernels, sums, kFewSums, 0, 0, static_cast<int>(call.M),
                static_cast<int>(call.N));
}

}  // namespace tessera::cpu
