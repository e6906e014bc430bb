// Products of float or double that one thread computes without tasks: from tiny ones up to about
// 120 in each extent, a few rows or columns, and remainder columns beyond whole vectors. No shared
// state. Called by gemm.cpp. Measurements: bench/results/cpu/tuning.md.
#pragma once

#include <algorithm>

#include "cpu/one_panel.hpp"
#include "forms.hpp"

namespace tessera::cpu {

namespace {

/// A tiny or small product of several panels: no tasks, no shared state. B has contiguous rows, b_k
/// apart along k.
template <class T>
[[gnu::noinline]] void gemm_panels(const Gemm<T>& call, const Kernels<T, T, T>& kernels, const T* B,
                                   index_t b_k) {
  // As few panels as possible, wide ones where that saves one; and equal ones in both directions,
  // because a remainder of a few rows or columns takes as long as many.
  const index_t wide = kernels.one_panel(), narrow = kernels.nr();
  const index_t most = ceil_div(call.N, wide) < ceil_div(call.N, narrow) ? wide : narrow;
  const index_t nr = call.N <= wide ? wide : even_part(call.N, most, kernels.lanes);
  int most_rows = kernels.rows_of(std::min<index_t>(nr, call.N));
  if (call.M > most_rows) most_rows = static_cast<int>(even_part(call.M, most_rows, 1));
  const bool plain = is_plain(call), ends = finishes_in_tiles(call, kernels);
  const bool in_place = call.beta == T{0} && call.c_col == 1;
  alignas(64) T sums[Kernels<T, T, T>::kMaxRows * kMostColumns];
  auto micro = no_prefetch_tile<T>(call.K, nullptr, call.a_row, call.a_col, nullptr, b_k, sums,
                                   kMostColumns, 0);
  if (in_place) micro.c_row = call.c_row;
  for (index_t j = 0; j < call.N; j += nr) {
    micro.cols = static_cast<int>(std::min<index_t>(nr, call.N - j));
    micro.b = B + j;
    const int vectors = kernels.vectors_of(micro.cols);
    const auto& table =
        (kernels.fills_vectors(micro.cols) ? kernels.no_prefetch : kernels.masked)[ends];
    for (index_t i = 0; i < call.M; i += most_rows) {
      const int rows = static_cast<int>(std::min<index_t>(most_rows, call.M - i));
      micro.a = call.A + i * call.a_row;
      if (in_place) micro.c = call.C + i * call.c_row + j;
      const auto run = table[rows - 1][vectors - 1];
      if (plain) run(micro);
      else run_and_finish_tile(call, call.C, kernels, run, ends, micro, i, j, rows);
    }
  }
}

/// At most MR rows of A times a B whose rows are contiguous, in strips of as many columns as there
/// are registers for.
template <class T>
void multiply_strips(index_t M, index_t N, index_t K, const T* A, index_t a_row, index_t a_col,
                     const T* B, index_t b_row, T* C, index_t c_row,
                     const Kernels<T, T, T>& kernels) {
  auto strip = no_prefetch_tile<T>(K, A, a_row, a_col, B, b_row, C, c_row, static_cast<int>(N));
  strip.prefetch_k = M == 1 ? tuning().rows_together : 0;
  kernels.strips[M - 1](strip);
}

/// Rows that fit one group are fastest in strips, more in panels.
template <class T>
void gemm_tiny(const Gemm<T>& call, const Kernels<T, T, T>& kernels, const T* B, index_t b_k) {
  const bool plain = is_plain(call);
  if (call.N <= kernels.one_panel()) {
    const OnePanel<T> panel(call.M, call.N, kernels, finishes_in_tiles(call, kernels));
    if (!plain) return panel.run_and_finish(call, kernels, call.A, B, b_k, call.C);
    return panel.run(call.M, call.N, call.K, call.A, call.a_row, call.a_col, B, b_k, call.C,
                     call.c_row);
  }
  if (!plain || call.M > kernels.rows) return gemm_panels(call, kernels, B, b_k);
  multiply_strips(call.M, call.N, call.K, call.A, call.a_row, call.a_col, B, b_k, call.C,
                  call.c_row, kernels);
}

/// A few rows of A, at most dot_rows, times a B whose columns are contiguous, b_col apart.
template <class T>
[[gnu::noinline]] void multiply_unpacked_dots(index_t M, index_t N, index_t K, const T* A,
                                              index_t a_row, index_t a_col, const T* B,
                                              index_t b_col, T* C, index_t c_row,
                                              const Kernels<T, T, T>& kernels) {
  auto micro = no_prefetch_tile<T>(K, A, a_row, a_col, B, b_col, C, c_row, static_cast<int>(N));
  micro.prefetch_k = 0, micro.k_rest = 0;
  kernels.dots[M - 1](micro);
}
template <class T>
[[gnu::noinline]] void multiply_lines_by_copied_rows(index_t M, index_t N, index_t K, const T* A,
                                                     index_t a_row, const T* B, index_t b_col, T* C,
                                                     index_t c_row,
                                                     const Kernels<T, T, T>& kernels) {
  constexpr index_t row = kCopiedK<T> + 64 / sizeof(T);
  alignas(64) T copy[Kernels<T, T, T>::kMaxRows * row];
  for (index_t i = 0; i < M; ++i) std::copy_n(A + i * a_row, K, copy + i * row);
  multiply_unpacked_dots(M, N, K, copy, row, index_t{1}, B, b_col, C, c_row, kernels);
}
template <class T>
void multiply_dots(index_t M, index_t N, index_t K, const T* A, index_t a_row, index_t a_col,
                   const T* B, index_t b_col, T* C, index_t c_row,
                   const Kernels<T, T, T>& kernels) {
  if (a_col == 1 && rows_meet<T>(M, K, a_row) && K <= kCopiedK<T>)
    return multiply_lines_by_copied_rows(M, N, K, A, a_row, B, b_col, C, c_row, kernels);
  multiply_unpacked_dots(M, N, K, A, a_row, a_col, B, b_col, C, c_row, kernels);
}
template <class T>
void multiply_dots(const Gemm<T>& call, const Kernels<T, T, T>& kernels) {
  multiply_dots(call.M, call.N, call.K, call.A, call.a_row, call.a_col, call.B, call.b_col, call.C,
                call.c_row, kernels);
}
/// A few columns of C, at most dot_rows, as rows of C' = B' A', some rows of A at a time. A has
/// contiguous rows or columns.
template <class T>
[[gnu::noinline]] void multiply_columns(index_t M, index_t columns, index_t K, const T* A,
                                        index_t a_row, index_t a_col, const T* B, index_t b_row,
                                        index_t b_col, T* C, index_t c_row,
                                        const Kernels<T, T, T>& kernels) {
  // Rows of sums are an odd number of cache lines apart, to avoid conflicts in L1.
  constexpr index_t line = 64 / sizeof(T);
  alignas(64) T sums[Kernels<T, T, T>::kMaxRows * (kSmallExtent + line)];
  const index_t sums_row = (ceil_div(std::min(kSmallExtent, M), line) | 1) * line;
  for (index_t i = 0; i < M; i += kSmallExtent) {
    const index_t rows = std::min(kSmallExtent, M - i);
    const T* const a = A + i * a_row;
    if (a_row == 1) {
      multiply_strips<T>(columns, rows, K, B, b_col, b_row, a, a_col, sums, sums_row, kernels);
    } else {
      multiply_dots<T>(columns, rows, K, B, b_col, b_row, a, a_row, sums, sums_row, kernels);
    }
    kernels.transpose(C + i * c_row, c_row, sums, static_cast<int>(columns), rows, sums_row);
  }
}

template <class T>
[[gnu::noinline]] bool gemm_packed_small(const Gemm<T>& call, const Kernels<T, T, T>& kernels) {
  const std::size_t bytes = panel_bytes(call, kernels);
  Workspace workspace(bytes);
  if (!workspace) return false;
  T* const panel = workspace.take<T>(bytes);
  const index_t width = round_up(call.N, kernels.lanes);
  kernels.pack_b(panel, static_cast<int>(width), call.B, call.N, call.K, call.b_col, call.b_row);
  gemm_tiny(call, kernels, panel, width);
  return true;
}

/// The last `columns` of C, as rows of C' = B' A'; removes them from `call`.
template <class T>
void take_columns(Gemm<T>& call, index_t columns, const Kernels<T, T, T>& kernels) {
  call.N -= columns;
  multiply_columns(call.M, columns, call.K, call.A, call.a_row, call.a_col,
                   call.B + call.N * call.b_col, call.b_row, call.b_col, call.C + call.N,
                   call.c_row, kernels);
}

/// Few elements of C and a long K, as chains: see chains.hpp.
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

/// A small product in a form other than `no`. False where there is no memory.
template <class T>
[[gnu::noinline]] bool multiply_small(const Gemm<T>& call, const Kernels<T, T, T>& kernels,
                                      SmallForm form) {
  if (form == SmallForm::panel) return gemm_packed_small(call, kernels);
  if (form == SmallForm::dots) multiply_dots(call, kernels);
  else gemm_tiny(call, kernels, call.B, call.b_row);
  return true;
}

/// A tiny product. The panel is on the stack.
template <class T>
[[gnu::noinline]] void multiply_tiny(const Gemm<T>& call, const Kernels<T, T, T>& lines,
                                     SmallForm form) {
  const auto& kernels = tiny_kernels<T>(call.N);
  if (form == SmallForm::tiles) return gemm_tiny(call, kernels, call.B, call.b_row);
  if (form == SmallForm::dots)
    return multiply_dots(call, 2 * call.K < lines.lanes ? kernels : lines);
  const TinyPanel<T> B(call, kernels, call.B);
  gemm_tiny(call, kernels, B.k_groups, B.width);
}

}  // namespace

}  // namespace tessera::cpu
