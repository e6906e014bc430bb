// Products of float or double that one thread makes without cutting jobs: from tiny ones up to
// about 120 in each extent, a few rows or columns, and the columns that are left beyond whole
// vectors. No shared state. Called by gemm.cpp.
#pragma once

#include <algorithm>

#include "blocking.hpp"
#include "one_panel.hpp"
#include "tessera/core/team.hpp"
#include "workspace.hpp"

namespace tessera::cpu {

namespace {

/// A tiny or small product of several panels: no jobs, no shared state. B has its columns side by
/// side, b_k apart along k.
template <class T>
[[gnu::noinline]] void gemm_panels(const Gemm<T>& call, const Kernels<T, T, T>& kernels, const T* B,
                                   index_t b_k) {
  // As few panels as possible: wide ones where that saves one. Equal ones, down and across: a few
  // rows or columns that are left take as long as many.
  const index_t wide = kernels.one_panel(), narrow = kernels.nr();
  const index_t most = ceil_div(call.N, wide) < ceil_div(call.N, narrow) ? wide : narrow;
  const index_t nr = call.N <= wide ? wide : even_part(call.N, most, kernels.lanes);
  int most_rows = kernels.rows_of(std::min<index_t>(nr, call.N));
  if (call.M > most_rows) most_rows = static_cast<int>(even_part(call.M, most_rows, 1));
  const bool plain = is_plain(call), ends = finishes_in_tiles(call, kernels);
  const bool in_place = call.beta == T{0} && call.c_col == 1;
  alignas(64) T sums[Kernels<T, T, T>::kMaxRows * kMostColumns];
  auto micro =
      lone_tile<T>(call.K, nullptr, call.a_row, call.a_col, nullptr, b_k, sums, kMostColumns, 0);
  if (in_place) micro.c_row = call.c_row;
  for (index_t j = 0; j < call.N; j += nr) {
    micro.cols = static_cast<int>(std::min<index_t>(nr, call.N - j));
    micro.b = B + j;
    const int vectors = kernels.vectors_of(micro.cols);
    const auto& table = (kernels.fills_vectors(micro.cols) ? kernels.lone : kernels.edge)[ends];
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

/// Rows that fit one group are best in strips, more in panels. f32, one thread of an EPYC (family
/// 26), 2026-11-23, strips as a multiple of the speed of panels, or, for two rows at most, of
/// strips that a Product prepares: (1,128,128) 1.29, (2,100,100) 1.25, (3,128,128) 1.21,
/// (5,200,200) 1.07, (7,150,60) 1.53, (8,256,256) 1.04; (10,100,100) 0.95, (20,100,100) 0.89.
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
  MicroTile<T, T> strip{};
  strip.K = call.K, strip.a = call.A, strip.a_row = call.a_row, strip.a_k = call.a_col;
  strip.b = B, strip.b_k = b_k, strip.cols = static_cast<int>(call.N);
  strip.c = call.C, strip.c_row = call.c_row;
  kernels.strips[call.M - 1](strip);
}

/// A tiny product whose B has no columns side by side: packed first.
template <class T>
[[gnu::noinline]] void gemm_tiny_packed(const Gemm<T>& call, const Kernels<T, T, T>& kernels) {
  const TinyPanel<T> B(call, kernels, call.B);
  gemm_tiny(call, kernels, B.words, B.width);
}

/// A few rows of A, at most line_rows, times a B whose columns are lines in memory, b_col apart;
/// K at most kSmallExtent.
template <class T>
[[gnu::noinline]] void multiply_lines(index_t M, index_t N, index_t K, const T* A, index_t a_row,
                                      index_t a_col, const T* B, index_t b_col, T* C, index_t c_row,
                                      const Kernels<T, T, T>& kernels) {
  alignas(64) T panel[Kernels<T, T, T>::kMaxRows * kSmallExtent];
  MicroTile<T, T> micro{};
  micro.K = K, micro.a = A, micro.a_row = a_row, micro.a_k = a_col;
  micro.b = B, micro.b_k = b_col, micro.cols = static_cast<int>(N);
  micro.c = C, micro.c_row = c_row;
  if (M > kLinesOfAnyA) {
    kernels.pack_a(panel, static_cast<int>(M), A, M, K, a_row, a_col);
    micro.a = panel;
  }
  kernels.sweep_lines[M - 1](micro);
}
template <class T>
void multiply_lines(const Gemm<T>& call, const Kernels<T, T, T>& kernels) {
  multiply_lines(call.M, call.N, call.K, call.A, call.a_row, call.a_col, call.B, call.b_col, call.C,
                 call.c_row, kernels);
}
template <class T>
bool is_for_lines(const Gemm<T>& call, const Kernels<T, T, T>& kernels) {
  return call.b_row == 1 && call.M <= kernels.line_rows && is_plain(call) && is_small(call);
}

/// A few columns of C as rows of C' = B' A', some rows of A at a time: one thread of an EPYC
/// (family 26), 2026-11-25, (1000,4,16) 1.45 times as fast as jobs. A has rows, or columns, whose
/// elements lie side by side; its K is at most kSmallExtent.
template <class T>
[[gnu::noinline]] void multiply_columns(index_t M, index_t columns, index_t K, const T* A,
                                        index_t a_row, index_t a_col, const T* B, index_t b_row,
                                        index_t b_col, T* C, index_t c_row,
                                        const Kernels<T, T, T>& kernels) {
  alignas(64) T sums[Kernels<T, T, T>::kMaxRows * kSmallExtent];
  for (index_t i = 0; i < M; i += kSmallExtent) {
    const index_t rows = std::min(kSmallExtent, M - i);
    const T* const a = A + i * a_row;
    if (a_row == 1) {
      MicroTile<T, T> strip{};
      strip.K = K, strip.a = B, strip.a_row = b_col, strip.a_k = b_row;
      strip.b = a, strip.b_k = a_col, strip.cols = static_cast<int>(rows);
      strip.c = sums, strip.c_row = kSmallExtent;
      kernels.strips[columns - 1](strip);
    } else {
      multiply_lines<T>(columns, rows, K, B, b_col, b_row, a, a_row, sums, kSmallExtent, kernels);
    }
    kernels.transpose(C + i * c_row, c_row, sums, static_cast<int>(columns), rows, kSmallExtent);
  }
}
template <class T>
bool may_be_columns(const Gemm<T>& call) {
  return (call.a_row == 1 || call.a_col == 1) && is_plain(call) && call.K <= kSmallExtent &&
         bounded_product(call.M, call.N, call.K) <= kSmallWork;
}

/// How many columns beyond whole vectors are better made that way, because vectors would be empty
/// but for them. f32, one thread of an EPYC (family 26), 2026-11-25, times as fast: 49^3 1.10,
/// 65^3 1.15, 66^3 1.15, 67^3 1.09, 68^3 1.02, 100^3 1.09, 36^3 0.86, 12x65x65 0.75; with A
/// transposed 33^3 1.14, 36^3 1.09, 17^3 0.83; f64 97^3 1.06, 68^3 0.96.
inline index_t columns_left(index_t M, index_t N, bool a_in_columns, index_t lanes) {
  const index_t left = N & (lanes - 1);
  return M >= 24 && (a_in_columns ? left <= 4 && N > 32 : left * 4 <= lanes && N > 48) ? left : 0;
}

/// B packed as one panel: where its columns do not lie side by side, and the panel stays in L1 or
/// near it. 256 x 256 was 0.65 times as fast as block by block.
template <class T>
std::size_t panel_bytes(const Gemm<T>& call, const Kernels<T, T, T>& kernels) {
  return Workspace::rounded(static_cast<std::size_t>(call.K * round_up(call.N, kernels.lanes)) *
                            sizeof(T));
}
template <class T>
bool is_for_a_panel(const Gemm<T>& call, const Kernels<T, T, T>& kernels) {
  const bool is_in_lines = call.b_row == 1 && call.M <= kLinesOfAnyA;  // with an epilogue
  return is_small(call) && call.b_col != 1 && !is_in_lines &&
         !has_few_columns(call, kernels.lanes, kernels.group) &&
         panel_bytes(call, kernels) <= static_cast<std::size_t>(2 * caches().l1);
}
template <class T>
[[gnu::noinline]] bool gemm_packed_alone(const Gemm<T>& call, const Kernels<T, T, T>& kernels) {
  const std::size_t bytes = panel_bytes(call, kernels);
  Workspace workspace(bytes);
  if (!workspace) return false;
  T* const panel = workspace.take<T>(bytes);
  const index_t width = round_up(call.N, kernels.lanes);
  kernels.pack_b(panel, static_cast<int>(width), call.B, call.N, call.K, call.b_col, call.b_row);
  gemm_tiny(call, kernels, panel, width);
  return true;
}

/// B as it lies, columns side by side, and not better in strips that have an epilogue. Or so narrow
/// that one micro-tile has all columns, whatever M.
template <class T>
bool is_for_tiles(const Gemm<T>& call, const Kernels<T, T, T>& kernels) {
  const bool is_thin = call.N <= kernels.lanes && call.K <= kSmallExtent &&
                       bounded_product(call.M, call.N, call.K) <= kSmallWork;
  return (is_small(call) || is_thin) && call.b_col == 1 &&
         !has_few_columns(call, kernels.lanes, kernels.group) &&
         (call.M > 2 || call.N <= kernels.one_panel() || is_plain(call));
}

/// How one thread makes all of a product.
enum class Alone : char { no, columns, tiles, lines, panel };
template <class T>
Alone alone(const Gemm<T>& call, const Kernels<T, T, T>& kernels) {
  if (is_for_tiles(call, kernels)) return Alone::tiles;
  if (is_for_lines(call, kernels)) return Alone::lines;
  if (call.N <= kernels.line_rows && may_be_columns(call) &&
      has_few_columns(call, kernels.lanes, kernels.group))
    return Alone::columns;
  return is_for_a_panel(call, kernels) ? Alone::panel : Alone::no;
}

template <class T>
index_t columns_left(const Gemm<T>& call, const Kernels<T, T, T>& kernels) {
  const bool may_be = may_be_columns(call) && call.b_col == 1;
  return may_be ? columns_left(call.M, call.N, call.a_row == 1, kernels.lanes) : 0;
}

/// False where jobs are better. Some columns may be gone from `call` then.
template <class T>
[[gnu::noinline]] bool gemm_alone(Gemm<T>& call, const Kernels<T, T, T>& kernels) {
  const auto columns = [&](index_t j) {
    multiply_columns(call.M, call.N - j, call.K, call.A, call.a_row, call.a_col,
                     call.B + j * call.b_col, call.b_row, call.b_col, call.C + j, call.c_row,
                     kernels);
    call.N = j;
  };
  if (const index_t left = columns_left(call, kernels); left > 0) columns(call.N - left);
  switch (alone(call, kernels)) {
    case Alone::no: return false;
    case Alone::columns: return columns(0), true;
    case Alone::tiles: return gemm_tiny(call, kernels, call.B, call.b_row), true;
    case Alone::lines: return multiply_lines(call, kernels), true;
    case Alone::panel: return gemm_packed_alone(call, kernels);
  }
  return false;
}

}  // namespace

}  // namespace tessera::cpu
