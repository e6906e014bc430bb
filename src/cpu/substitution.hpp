// Substitution with a small triangular matrix: the leaf of the BLAS's trsm and trmm
// (blas/triangular.cpp).
#pragma once

#include "kernels.hpp"

namespace tessera::cpu {

/// x(i) += t(i, 0) x(0) + ... + t(i, i - 1) x(i - 1), then x(i) *= factor(i), row by row from the
/// first; or, where it does not substitute, x(i) = factor(i) x(i) + t(i, 0) x(0) + ..., from the
/// last. In pairs, two rows are the real and imaginary part of one of a complex x, as are factors.
/// Each sum is one chain in order of t's columns. Over 60 lines: the loops share registers.
template <class V, bool Substitutes, bool Pairs>
void substitute_rows(const TriangularTile<typename V::sum>& call) {
  using T = typename V::sum;
  constexpr int R = 4, N = 2, step = Pairs ? 2 : 1;
  const auto group = [&](int first, int col) {
    T* const x = call.x + col;
    const T* const t = call.t + first * call.kRows;
    typename V::type old[R][N], value[R][N];
    const auto add = [&](int i, T factor, const auto& row) {
      TESSERA_UNROLL
      for (int j = 0; j < N; ++j) value[i][j] = V::fma(V::splat(factor), row[j], value[i][j]);
    };
    const auto scale = [&](int i, const auto& from) {
      const T* const f = call.factor + first + i;
      TESSERA_UNROLL
      for (int j = 0; j < N; ++j) {
        const auto re = from[i][j];
        if constexpr (Pairs) {
          const auto im = from[i + 1][j];
          value[i][j] = V::fma(V::splat(-f[1]), im, V::mul(V::splat(f[0]), re));
          value[i + 1][j] = V::fma(V::splat(f[1]), re, V::mul(V::splat(f[0]), im));
        } else {
          value[i][j] = V::mul(V::splat(f[0]), re);
        }
      }
    };
    TESSERA_UNROLL
    for (int i = 0; i < R; ++i) {
      TESSERA_UNROLL
      for (int j = 0; j < N; ++j)
        value[i][j] = old[i][j] = V::load(x + (first + i) * call.x_row + j * V::lanes);
    }
    if constexpr (!Substitutes) {
      TESSERA_UNROLL
      for (int i = 0; i < R; i += step) scale(i, old);
    }
    for (int l = 0; l < first; ++l) {
      typename V::type row[N];
      TESSERA_UNROLL
      for (int j = 0; j < N; ++j) row[j] = V::load(x + l * call.x_row + j * V::lanes);
      TESSERA_UNROLL
      for (int i = 0; i < R; ++i) add(i, t[i * call.kRows + l], row);
    }
    TESSERA_UNROLL
    for (int i = 0; i < R; i += step) {
      TESSERA_UNROLL
      for (int l = 0; l < i; ++l) {
        TESSERA_UNROLL
        for (int p = 0; p < step; ++p)
          add(i + p, t[(i + p) * call.kRows + first + l], Substitutes ? value[l] : old[l]);
      }
      if constexpr (Substitutes) scale(i, value);
    }
    TESSERA_UNROLL
    for (int i = 0; i < R; ++i) {
      TESSERA_UNROLL
      for (int j = 0; j < N; ++j)
        V::store(x + (first + i) * call.x_row + j * V::lanes, value[i][j]);
    }
  };
  for (int at = 0; at < call.rows; at += R)
    for (int col = 0; col < call.cols; col += N * V::lanes)
      group(Substitutes ? at : call.rows - R - at, col);
}

template <class V>
void substitute(const TriangularTile<typename V::sum>& call, bool substitutes, bool pairs) {
  if (substitutes)
    pairs ? substitute_rows<V, true, true>(call) : substitute_rows<V, true, false>(call);
  else pairs ? substitute_rows<V, false, true>(call) : substitute_rows<V, false, false>(call);
}

}  // namespace tessera::cpu
