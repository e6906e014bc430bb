// The shortest way of all, for tiny products: C is nothing but the sums, its columns fit one panel
// of B, which lies as it is, and one microkernel after the other makes the rows. Called by gemm.cpp
// and gemm_plan.cpp.
#pragma once

#include "kernels.hpp"
#include "tessera/cpu/gemm.hpp"

namespace tessera::cpu {

template <class T>
struct OnePanel {
  using Micro = typename Kernels<T, T, T>::Micro;
  Micro full, rest;  ///< for micro-tiles of `rows` rows, and for the last one
  int rows;

  OnePanel(Micro full_, Micro rest_, int rows_) : full(full_), rest(rest_), rows(rows_) {}
  /// call.M and call.N are at least 1.
  OnePanel(const Gemm<T>& call, const Kernels<T, T, T>& kernels) : rows(kernels.rows) {
    const int cols = static_cast<int>(call.N), vector = kernels.vectors_of(cols) - 1;
    const auto& table = kernels.fills_vectors(cols) ? kernels.direct : kernels.edge;
    full = table[rows - 1][vector];
    const auto left = static_cast<unsigned>(call.M) % static_cast<unsigned>(rows);
    rest = left > 0 ? table[left - 1][vector] : full;
  }

  void run(const Gemm<T>& call, const T* A, const T* B, index_t b_k, T* C) const {
    MicroTile<T, T> micro{
        call.K, A,     call.a_row, call.a_col, B, b_k, C, call.c_row, static_cast<int>(call.N),
        C,      false, false};
    for (index_t left = call.M; left > rows; left -= rows) {
      full(micro);
      micro.a += rows * call.a_row;
      micro.c += rows * call.c_row;
    }
    rest(micro);
  }
};

}  // namespace tessera::cpu
