// Products in the order `lanes` (tessera/cpu/lanes.hpp): no packing, no memory. Called by gemm.cpp.
#pragma once

#include <algorithm>
#include <atomic>

#include "blocking.hpp"
#include "choose_kernels.hpp"
#include "epilogue.hpp"
#include "tessera/core/team.hpp"
#include "tessera/cpu/lanes.hpp"

namespace tessera::cpu {

template <class T>
bool is_for_lanes(const Gemm<T>& call) {
  return call.arithmetic == Arithmetic::lanes && call.chain == Chain::begins &&
         takes_lanes<T>(call.M, call.N, call.K, call.a_col, call.b_row);
}

/// Columns [j, end) of a C with few rows.
template <class T>
void multiply_lane_columns(const Gemm<T>& call, const Kernels<T, T, T>& kernels, index_t j,
                           index_t end) {
  ChainTile<T> tile{call.K, call.A, call.a_row, 1, nullptr, 1, call.b_col, nullptr, 0};
  const auto sums_to = [&](T* c, index_t c_row, index_t first, index_t columns) {
    tile.b = call.B + first * call.b_col;
    tile.c = c, tile.c_row = c_row;
    kernels.lane_sums(tile, call.M, columns);
  };
  if (is_plain(call)) return sums_to(call.C + j, call.c_row, j, end - j);
  constexpr index_t most_rows = 16;  // see takes_lanes()
  alignas(64) T sums[most_rows * kMostColumns];
  const bool transposes = call.c_row == 1 && finish_at(call, 0, 0).changes_nothing();
  for (; j < end; j += kMostColumns) {
    const index_t columns = std::min<index_t>(kMostColumns, end - j);
    sums_to(sums, kMostColumns, j, columns);
    const int rows = static_cast<int>(call.M);
    if (transposes)
      kernels.transpose(call.C + j * call.c_col, call.c_col, sums, rows, columns, kMostColumns);
    else
      finish_tile(call, call.C, kernels, sums, kMostColumns, 0, j, rows, static_cast<int>(columns));
  }
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
