// Few elements of C over a long K: each element is one chain of multiply-adds in order of k, so no
// order of loads is faster than the latency of that chain. Up to kMostChains chains run side by
// side in scalar registers, whatever the strides; nothing is transposed and nothing is packed.
#pragma once

#include <type_traits>

#include "microkernel.hpp"

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
  struct Tiles {
    void (*of[8][8])(const ChainTile<typename V::sum>&);
  };
  static constexpr Tiles tiles = [] {
    Tiles out{};
    each_constant<8>([&]<int R>() {
      each_constant<8>([&]<int N>() {
        if constexpr ((R + 1) * (N + 1) <= kMostChains) out.of[R][N] = chain_tile<V, R + 1, N + 1>;
      });
    });
    return out;
  }();
  tiles.of[rows - 1][cols - 1](call);
}

}  // namespace tessera::cpu
