// From the sums of a micro-tile to C, for the packed path.
#pragma once

#include <type_traits>

#include "kernels.hpp"
#include "tessera/cpu/gemm.hpp"

namespace tessera::cpu {

/// Columns of the largest micro-tile of any instruction set; its rows: Kernels::kMostRows.
constexpr int kMostColumns = 64;

/// The epilogue of a micro-tile of finished sums at (i, j) of C; `call` has everything but C.
template <class In, class Out, class Table>
void finish_tile(const Gemm<In, Out>& call, Out* C, const Table& kernels,
                 const typename Gemm<In, Out>::Sum* sums, index_t sums_row, index_t i, index_t j,
                 int rows, int cols) {
  using Sum = typename Gemm<In, Out>::Sum;
  using Scalar = typename Gemm<In, Out>::Scalar;
  Out* c = C + i * call.c_row + j * call.c_col;
  const Scalar* bias = call.bias.at(i, j);
  const bool along_rows = call.bias.kind == Bias::per_row;
  const FinishRow<Scalar> how{call.alpha, call.beta, along_rows ? bias : nullptr,
                              along_rows ? nullptr : bias, call.last};
  if constexpr (std::is_same_v<Sum, Out>) {
    if (call.c_col == 1) return kernels.finish(sums, sums_row, rows, cols, c, call.c_row, how);
  }
  if constexpr (sizeof(Out) == 2) {
    if (call.c_col == 1) {
      alignas(64) Sum finished[Table::kMostRows * kMostColumns];
      for (int r = 0; r < rows && call.beta != Sum{0}; ++r) {
        for (int n = 0; n < cols; ++n)
          finished[r * kMostColumns + n] = static_cast<Sum>(c[r * call.c_row + n]);
      }
      kernels.finish(sums, sums_row, rows, cols, finished, kMostColumns, how);
      using Source = typename Table::source;
      for (int r = 0; r < rows; ++r)
        kernels.narrow(reinterpret_cast<Source*>(c + r * call.c_row), finished + r * kMostColumns,
                       cols);
      return;
    }
  }
  if constexpr (!std::is_same_v<Sum, Scalar>) {
    if (call.c_col == 1) {
      alignas(64) Scalar rounded[Table::kMostRows * kMostColumns];
      for (int r = 0; r < rows; ++r)
        kernels.to_f32(rounded + r * kMostColumns, sums + r * sums_row, cols);
      return kernel_set().f32.finish(rounded, kMostColumns, rows, cols, c, call.c_row, how);
    }
  }
  const EpilogueScalars<Scalar> scalars{call.alpha, call.beta, call.last};
  for (int r = 0; r < rows; ++r) {
    for (int n = 0; n < cols; ++n) {
      Out& target = c[r * call.c_row + n * call.c_col];
      target = convert<Out>(finish(
          scalars, static_cast<Scalar>(sums[r * sums_row + n]), [&] { return target; },
          call.bias.at(i + r, j + n)));
    }
  }
}

/// Products up to this size in each extent run at once, on the caller alone. A multiple of all
/// lanes.
constexpr index_t kTiny = 48;

template <class In, class Out>
bool is_tiny(const Gemm<In, Out>& call) {
  return call.M <= kTiny && call.N <= kTiny && call.K <= kTiny;
}

/// With so much work one thread is done before jobs would have been cut: 64^3 of f32 at 98 % of the
/// peak instead of 92 (EPYC, family 25, 2026-11-21); 96^3 gains 1 %. On an EPYC (family 26), one
/// thread, 2026-11-23, 128x128x16 gains 10 %, 200x64x64 8, 16x128x128 5.
constexpr index_t kSmallWork = 96 * 96 * 96, kSmallExtent = 256;

template <class In, class Out>
bool is_small(const Gemm<In, Out>& call) {
  return call.M <= kSmallExtent && call.N <= kSmallExtent && call.K <= kSmallExtent &&
         call.M * call.N * call.K <= kSmallWork;
}

/// C is nothing but the sums, side by side: microkernels store straight to it.
template <class In, class Out>
bool is_plain(const Gemm<In, Out>& call) {
  return std::is_same_v<Out, typename Gemm<In, Out>::Sum> && call.c_col == 1 && call.alpha == 1 &&
         call.beta == 0 && call.bias.kind == Bias::none && call.last.changes_nothing();
}

}  // namespace tessera::cpu
