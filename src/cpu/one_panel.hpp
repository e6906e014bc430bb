// The shortest route, for tiny products: the columns of C fit one panel of B, which stays unpacked;
// microkernels compute the rows one after the other, directly into C where C is the plain sums.
// Called by gemm.cpp and gemm_plan.cpp. Measurements: bench/results/cpu/tuning.md.
#pragma once

#include <algorithm>

#include "small/forms.hpp"

namespace tessera::cpu {

/// A micro-tile that prefetches nothing, for `no_prefetch` and `masked` entries of f32 and f64.
/// Fields that these do not read are left unset: setting them all would slow down a tiny product.
template <class T>
MicroTile<T, T> no_prefetch_tile(index_t K, const T* a, index_t a_row, index_t a_k, const T* b,
                                 index_t b_k, T* c, index_t c_row, int cols) {
  MicroTile<T, T> micro;
  micro.K = K, micro.a = a, micro.a_row = a_row, micro.a_k = a_k, micro.b = b, micro.b_k = b_k;
  micro.c = c, micro.c_row = c_row, micro.cols = cols;
  micro.next_c = nullptr, micro.resume = micro.stream = false;
  micro.prefetch_times = 0, micro.prefetch = micro.prefetch_a = nullptr, micro.finish = nullptr;
  return micro;
}

template <class T>
struct OnePanel {
  using Micro = typename Kernels<T, T, T>::Micro;
  Micro full, rest;  ///< for micro-tiles of `rows` rows, and for the last one
  int rows;

  OnePanel(Micro full_, Micro rest_, int rows_) : full(full_), rest(rest_), rows(rows_) {}
  /// M and N are at least 1. `ends`: with an epilogue in registers.
  OnePanel(index_t M, index_t N, const Kernels<T, T, T>& kernels, bool ends)
      : rows(kernels.one_panel_rows_of(N)) {
    const int cols = static_cast<int>(N);
    const auto left = static_cast<unsigned>(M) % static_cast<unsigned>(rows);
    full = kernels.one_panel_tile(rows, cols, ends);
    rest = left > 0 ? kernels.one_panel_tile(static_cast<int>(left), cols, ends) : full;
  }

  void run(index_t M, index_t N, index_t K, const T* A, index_t a_row, index_t a_col, const T* B,
           index_t b_k, T* C, index_t c_row) const {
    auto micro = no_prefetch_tile(K, A, a_row, a_col, B, b_k, C, c_row, static_cast<int>(N));
    for (index_t left = M; left > rows; left -= rows) {
      full(micro);
      micro.a += rows * a_row;
      micro.c += rows * c_row;
    }
    rest(micro);
  }

  /// The same with an epilogue in registers; the sums are not kept in C.
  void run(index_t M, index_t N, index_t K, const T* A, index_t a_row, index_t a_col, const T* B,
           index_t b_k, T* C, index_t c_row, const FinishRow<T>& how) const {
    auto micro = no_prefetch_tile<T>(K, A, a_row, a_col, B, b_k, C, c_row, static_cast<int>(N));
    micro.finish = &how, micro.to = C, micro.to_row = c_row;
    for (index_t left = M; left > rows; left -= rows) {
      full(micro);
      micro.a += rows * a_row;
      micro.to += rows * c_row;
    }
    rest(micro);
  }

  /// With the epilogue of `call`, whose A, B, C and strides of B are ignored.
  void run_and_finish(const Gemm<T>& call, const Kernels<T, T, T>& kernels, const T* A, const T* B,
                      index_t b_k, T* C) const {
    alignas(64) T sums[Kernels<T, T, T>::kMr16 * kMostColumns];
    const bool ends = finishes_in_tiles(call, kernels);
    const bool in_place = call.beta == T{0} && call.c_col == 1;
    auto micro = no_prefetch_tile(call.K, A, call.a_row, call.a_col, B, b_k, in_place ? C : sums,
                                  in_place ? call.c_row : kMostColumns, static_cast<int>(call.N));
    for (index_t i = 0; i < call.M; i += rows) {
      const int here = static_cast<int>(std::min<index_t>(rows, call.M - i));
      run_and_finish_tile(call, C, kernels, here == rows ? full : rest, ends, micro, i, 0, here);
      micro.a += rows * call.a_row;
      if (in_place) micro.c += rows * call.c_row;
    }
  }
};

/// A B (K,N) of a tiny product whose rows are not contiguous, packed on the stack.
template <class T>
struct TinyPanel {
  alignas(64) T k_groups[kTiny * kTiny];
  index_t width;

  TinyPanel(const Gemm<T>& call, const Kernels<T, T, T>& kernels, const T* B)
      : width((call.N + kernels.lanes - 1) / kernels.lanes * kernels.lanes) {
    kernels.pack_b(k_groups, static_cast<int>(width), B, call.N, call.K, call.b_col, call.b_row);
  }
};

}  // namespace tessera::cpu
