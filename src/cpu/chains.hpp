// Few elements of C over a long K: each element is one chain of multiply-adds in order of k, so no
// order of loads is faster than the latency of that chain. Up to kMostChains chains run side by
// side in scalar registers, whatever the strides; nothing is transposed and nothing is packed.
#pragma once

#include <type_traits>

#include "kernels.hpp"

namespace tessera::cpu {

/// A template on V, as all here, so that no code is shared with files for other instruction sets.
template <class V, class T = typename V::sum>
T fused(T x, T y, T sum) {
  if constexpr (std::is_same_v<T, float>) return __builtin_fmaf(x, y, sum);
  else return __builtin_fma(x, y, sum);
}

/// R rows and N columns of C.
template <class V, int R, int N>
void chain_tile(const ChainTile<typename V::sum>& call) {
  using T = typename V::sum;
  T sums[R][N] = {};
  const T *a = call.a, *b = call.b;
  for (index_t k = 0; k < call.K; ++k, a += call.a_k, b += call.b_k) {
    T y[N];
    TESSERA_UNROLL
    for (int j = 0; j < N; ++j) y[j] = b[j * call.b_col];
    TESSERA_UNROLL
    for (int i = 0; i < R; ++i) {
      const T x = a[i * call.a_row];
      TESSERA_UNROLL
      for (int j = 0; j < N; ++j) sums[i][j] = fused<V>(x, y[j], sums[i][j]);
    }
  }
  TESSERA_UNROLL
  for (int i = 0; i < R; ++i) {
    TESSERA_UNROLL
    for (int j = 0; j < N; ++j) call.c[i * call.c_row + j] = sums[i][j];
  }
}

/// At most kMostChains elements, with at most 8 in each extent.
template <class V>
void chains(const ChainTile<typename V::sum>& call, int rows, int cols) {
  using Run = void (*)(const ChainTile<typename V::sum>&);
  static constexpr Run table[8][8] = {
      {chain_tile<V, 1, 1>, chain_tile<V, 1, 2>, chain_tile<V, 1, 3>, chain_tile<V, 1, 4>,
       chain_tile<V, 1, 5>, chain_tile<V, 1, 6>, chain_tile<V, 1, 7>, chain_tile<V, 1, 8>},
      {chain_tile<V, 2, 1>, chain_tile<V, 2, 2>, chain_tile<V, 2, 3>, chain_tile<V, 2, 4>},
      {chain_tile<V, 3, 1>, chain_tile<V, 3, 2>, chain_tile<V, 3, 3>},
      {chain_tile<V, 4, 1>, chain_tile<V, 4, 2>},
      {chain_tile<V, 5, 1>},
      {chain_tile<V, 6, 1>},
      {chain_tile<V, 7, 1>},
      {chain_tile<V, 8, 1>}};
  table[rows - 1][cols - 1](call);
}

}  // namespace tessera::cpu
