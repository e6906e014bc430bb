// Products in the order `lanes` (tessera/cpu/lanes.hpp): no packing, no memory. Called by gemm.cpp.
#pragma once

#include <algorithm>
#include <atomic>

#include "small/forms.hpp"

namespace tessera::cpu {

/// The sums of `tile`, at most 16 rows, some columns at a time: body(sums, j, columns), whose rows
/// are kMostColumns apart.
template <class T, class Body>
void each_lane_sums(ChainTile<T> tile, const Kernels<T, T, T>& kernels, index_t rows, index_t cols,
                    const Body& body) {
  alignas(64) T sums[kMostThin * kMostColumns];
  tile.c = sums, tile.c_row = kMostColumns;
  for (index_t j = 0; j < cols; j += kMostColumns, tile.b += kMostColumns * tile.b_col) {
    const int columns = static_cast<int>(std::min<index_t>(kMostColumns, cols - j));
    kernels.lane_sums(tile, rows, columns);
    body(sums, j, columns);
  }
}

/// The same sums as columns of C, whose rows are contiguous.
template <class T>
void transposed_lane_sums(const ChainTile<T>& tile, const Kernels<T, T, T>& kernels, index_t rows,
                          index_t cols, T* C, index_t c_row) {
  each_lane_sums(tile, kernels, rows, cols, [&](const T* sums, index_t j, int columns) {
    kernels.transpose(C + j * c_row, c_row, sums, static_cast<int>(rows), columns, kMostColumns);
  });
}

/// Columns [first, end) of a C with few rows.
template <class T>
void multiply_lane_columns(const Gemm<T>& call, const Kernels<T, T, T>& kernels, index_t first,
                           index_t end) {
  const ChainTile<T> tile{call.K,
                          call.A,
                          call.a_row,
                          1,
                          call.B + first * call.b_col,
                          1,
                          call.b_col,
                          call.C + first * call.c_col,
                          call.c_row};
  if (is_plain(call)) return kernels.lane_sums(tile, call.M, end - first);
  if (call.c_row == 1 && finish_at(call, 0, 0).changes_nothing())
    return transposed_lane_sums(tile, kernels, call.M, end - first, tile.c, call.c_col);
  each_lane_sums(tile, kernels, call.M, end - first, [&](const T* sums, index_t j, int columns) {
    finish_tile(call, call.C, kernels, sums, kMostColumns, 0, first + j, static_cast<int>(call.M),
                columns);
  });
}

/// Threads take some columns at a time; `ns`: what one thread needs.
template <class T>
[[gnu::noinline]] void share_lanes(const Gemm<T>& call, const Kernels<T, T, T>& kernels,
                                   int threads, std::int64_t ns) {
  const index_t columns = round_up(ceil_div(call.N, index_t{8} * threads), kMostColumns);
  std::atomic<index_t> next{0};
  run_team(threads, ns, [&](int) {
    for (index_t j; (j = next.fetch_add(columns, std::memory_order_relaxed)) < call.N;)
      multiply_lane_columns(call, kernels, j, std::min(j + columns, call.N));
  });
}

}  // namespace tessera::cpu
