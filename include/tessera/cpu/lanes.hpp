// The order `lanes`: how Arithmetic::lanes sums products in dot form, of float and double. One
// element of C is 16 chains of fused multiply-adds (double: 8), k modulo 16 each, added in one
// tree. Vectors then run along K, where both operands are contiguous, and nothing is transposed.
// The bits are the same on every machine, for any number of threads, alignment and batch. All other
// products are one chain in order of k, whatever is requested.
#pragma once

#include <algorithm>
#include <cmath>

#include "tessera/core/config.hpp"

namespace tessera::cpu {

template <class T>
constexpr index_t kLanes = 64 / static_cast<index_t>(sizeof(T));

/// The most that the smaller one of M and N may be.
constexpr index_t kMostThin = 16;

/// Is this a product in dot form? Along K both A (M,K) and B (K,N) are contiguous; M or N is
/// small, and K is so long that adding the lanes takes less time than transposing would.
template <class T>
constexpr bool takes_lanes(index_t M, index_t N, index_t K, index_t a_col, index_t b_row) {
  const index_t thin = std::min(M, N);
  return a_col == 1 && b_row == 1 && thin >= 1 && thin <= kMostThin && K >= kLanes<T> * thin;
}

/// The reference: the sum of a[k] * b[k] in this order.
template <class T>
T sum_by_lanes(index_t K, const T* a, const T* b) {
  constexpr index_t lanes = kLanes<T>;
  T sums[lanes] = {};
  for (index_t k = 0; k < K; ++k) sums[k % lanes] = std::fma(a[k], b[k], sums[k % lanes]);
  for (index_t half = lanes / 2; half > 0; half /= 2)
    for (index_t l = 0; l < half; ++l) sums[l] += sums[l + half];
  return sums[0];
}

}  // namespace tessera::cpu
