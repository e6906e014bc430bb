// Products of float or double that one thread computes without tasks: from tiny ones up to about
// 120 in each extent, a few rows or columns, and remainder columns beyond whole vectors. No shared
// state. Called by gemm.cpp.
#pragma once

#include <algorithm>
#include <bit>

#include "blocking.hpp"
#include "choose_kernels.hpp"
#include "one_panel.hpp"
#include "tessera/core/team.hpp"
#include "workspace.hpp"

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
  strip.prefetch_k = 0;
  kernels.strips[M - 1](strip);
}

/// Rows that fit one group are fastest in strips, more in panels. Measured:
/// bench/results/cpu/tuning.md.
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

/// Are lines transposed in registers for vectors of this many lanes?
template <class T>
constexpr bool transposes(int lanes) {
  return lanes * sizeof(T) == 64;
}

/// Rows of A at this distance fall into two sets of L1, and evict each other and the other
/// operands: they are copied, if they are short enough for the stack. Measured:
/// bench/results/cpu/tuning.md.
template <class T>
constexpr index_t kCopiedK = 2048 / sizeof(T);
template <class T>
bool rows_meet(index_t rows, index_t K, index_t row) {
  return rows > kDotRowsOfAnyA && K > kSmallExtent && row * index_t{sizeof(T)} % 2048 == 0;
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
/// Is a matrix of lines of K elements so small that no prefetching is needed, and do the long rows
/// that are multiplied with it, `row` apart, not conflict in L1? Measured:
/// bench/results/cpu/tuning.md.
template <class T>
bool lines_stay(index_t lines, index_t K, index_t rows, index_t row) {
  return bounded_product(lines, K, sizeof(T)) <= caches().l2 / 2 &&
         (!rows_meet<T>(rows, K, row) || K <= kCopiedK<T>);
}
/// A packed panel is better for more columns than one 32-byte vector where lines are not transposed
/// in registers, or are too short for it, and for lines of one element.
template <class T>
bool is_for_dots(const Gemm<T>& call, const Kernels<T, T, T>& kernels) {
  if (call.b_row != 1 || call.b_col == 1 || call.M > kernels.dot_rows || !is_plain(call) ||
      bounded_product(call.M, call.N, call.K) > kSmallWork ||
      !lines_stay<T>(call.N, call.K, call.M, call.a_row))
    return false;
  return (transposes<T>(kernels.lanes) && 2 * call.K >= kernels.lanes) ||
         (call.K > 1 && call.N * index_t{sizeof(T)} <= 32);
}

/// A few columns of C, at most dot_rows, as rows of C' = B' A', some rows of A at a time. A has
/// contiguous rows or columns. Measured: bench/results/cpu/tuning.md.
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

/// Estimated costs of the routes of a small product, in vector multiply-adds (throughput two per
/// cycle, latency four). The constants are fitted to products of up to 256 in each extent, with few
/// columns, or with B transposed, in f32 and f64. Measured:
/// bench/results/cpu/tuning.md.
struct Costs {
  index_t lanes;
  int shift;            ///< to avoid a division, which would slow down a tiny product
  int one_vector_rows;  ///< rows of a micro-tile of one vector
  index_t transpose;    ///< a K-group of as many lines as lanes, in fifths

  template <class T>
  explicit Costs(const Kernels<T, T, T>& kernels)
      : lanes(kernels.lanes),
        shift(std::countr_zero(static_cast<unsigned>(kernels.lanes))),
        one_vector_rows(kernels.one_panel_rows_of(1)),
        transpose(transposes<T>(kernels.lanes) ? lanes : 5 * lanes) {}

  index_t vectors(index_t count) const { return (count + lanes - 1) >> shift; }

  /// The latency of the chains, whatever is multiplied.
  static constexpr index_t kLeast = 8;

  index_t tiles(index_t M, index_t N, index_t K) const {
    const index_t each = vectors(N), rows = each == 1 ? one_vector_rows : each < 4 ? 8 : 6;
    const auto few = static_cast<index_t>(static_cast<unsigned>(M) % static_cast<unsigned>(rows));
    return K * ((M - few) * each + (few > 0 ? std::max(kLeast, few * each) : 0));
  }
  index_t panel(index_t M, index_t N, index_t K) const {
    return tiles(M, N, K) + K * vectors(N) * lanes * 5 / 8 + 60;
  }
  index_t lines(index_t rows, index_t lines, index_t K) const {
    const index_t one = 5 * rows + transpose, least = 5 * kLeast, groups = vectors(lines);
    const index_t all = groups / 2 * std::max(least, 2 * one) + groups % 2 * std::max(least, one);
    return ((K + lanes / 2 - 1) & -(lanes / 2)) * all / 5 + 60;
  }
  index_t columns(index_t M, index_t columns, index_t K, bool a_in_columns) const {
    const index_t sums =
        a_in_columns ? K * std::max(kLeast, vectors(M) * columns) + 50 : lines(columns, M, K);
    return sums + M * columns * (columns < 4 ? 4 * columns : 3) / 8 + 60;
  }
};

/// May this few remainder columns be split off? More never paid off.
inline bool may_be_left(index_t columns) { return columns > 0 && columns <= 4; }

/// The number of remainder columns (or of all, without whole vectors) that are better computed as
/// rows of C' than by micro-tiles, with B packed or not. None for few rows or a small A, where
/// estimating the costs would take too long.
template <class T>
index_t columns_left(index_t M, index_t N, index_t K, bool a_in_columns, bool packs,
                     const Kernels<T, T, T>& kernels) {
  const index_t left = N & (kernels.lanes - 1);
  if (left < N ? !may_be_left(left) : left > kernels.dot_rows) return 0;
  if (M <= kernels.dot_rows || M * K < (left < N ? 512 : 256)) return 0;
  if (!a_in_columns && 2 * K < kernels.lanes) return 0;  // lines too short to be transposed
  const Costs costs(kernels);
  const auto others = [&](index_t cols) {
    return packs ? costs.panel(M, cols, K) : costs.tiles(M, cols, K);
  };
  const index_t takes = costs.columns(M, left, K, a_in_columns);
  // Remainder columns take somewhat longer than that. Measured: bench/results/cpu/tuning.md.
  const bool pays = left < N ? takes * 6 / 5 < others(N) - others(N - left) : takes < others(N);
  return pays ? left : 0;
}
template <class T>
index_t columns_left(const Gemm<T>& call, const Kernels<T, T, T>& kernels) {
  if (bounded_product(call.M, call.N, call.K) > kSmallWork ||
      !(call.a_row == 1 || call.a_col == 1) || !is_plain(call))
    return 0;
  if (call.K > kSmallExtent &&
      (call.N > kernels.dot_rows || !lines_stay<T>(call.M, call.K, call.N, call.b_col)))
    return 0;
  return columns_left(call.M, call.N, call.K, call.a_row == 1, call.b_col != 1, kernels);
}

/// B packed as one panel: where its rows are not contiguous, and the panel stays in L1 or
/// near it. Measured: bench/results/cpu/tuning.md.
template <class T>
std::size_t panel_bytes(const Gemm<T>& call, const Kernels<T, T, T>& kernels) {
  return Workspace::rounded(static_cast<std::size_t>(call.K * round_up(call.N, kernels.lanes)) *
                            sizeof(T));
}
template <class T>
bool is_for_a_panel(const Gemm<T>& call, const Kernels<T, T, T>& kernels) {
  const bool is_in_lines = call.b_row == 1 && call.M <= kDotRowsOfAnyA && !is_plain(call);
  return is_small(call) && call.b_col != 1 && !is_in_lines &&
         panel_bytes(call, kernels) <= static_cast<std::size_t>(2 * caches().l1);
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

/// B unpacked with contiguous rows, and not faster in strips that have an epilogue. Or so narrow
/// that one micro-tile has all columns, whatever M.
template <class T>
bool is_for_tiles(const Gemm<T>& call, const Kernels<T, T, T>& kernels) {
  const bool is_thin = call.N <= kernels.lanes && call.K <= kSmallExtent &&
                       bounded_product(call.M, call.N, call.K) <= kSmallWork;
  return (is_small(call) || is_thin) && call.b_col == 1 &&
         (call.M > 2 || call.N <= kernels.one_panel() || is_plain(call));
}

/// How one thread computes a whole product.
enum class SmallForm : char { no, tiles, lines, panel };
template <class T>
SmallForm small_form(const Gemm<T>& call, const Kernels<T, T, T>& kernels) {
  // With an epilogue, tasks compute a few columns as rows of C'.
  if (!is_plain(call) && has_few_columns(call, kernels.lanes, kernels.group)) return SmallForm::no;
  if (is_for_tiles(call, kernels)) return SmallForm::tiles;
  if (is_for_dots(call, kernels)) return SmallForm::lines;
  return is_for_a_panel(call, kernels) ? SmallForm::panel : SmallForm::no;
}

/// Computes some or all columns and removes them from `call`.
template <class T>
void take_columns(Gemm<T>& call, const Kernels<T, T, T>& kernels) {
  const index_t left = columns_left(call, kernels);
  if (left == 0) return;
  call.N -= left;
  multiply_columns(call.M, left, call.K, call.A, call.a_row, call.a_col,
                   call.B + call.N * call.b_col, call.b_row, call.b_col, call.C + call.N,
                   call.c_row, kernels);
}

/// False where tasks are better; some columns may then have been computed and removed from `call`.
template <class T>
[[gnu::noinline]] bool gemm_small(Gemm<T>& call, const Kernels<T, T, T>& kernels) {
  take_columns(call, kernels);
  if (call.N == 0) return true;
  switch (small_form(call, kernels)) {
    case SmallForm::no: return false;
    case SmallForm::tiles: return gemm_tiny(call, kernels, call.B, call.b_row), true;
    case SmallForm::lines: return multiply_dots(call, kernels), true;
    case SmallForm::panel: return gemm_packed_small(call, kernels);
  }
  return false;
}

/// A tiny product. B is packed on the stack where its rows are not contiguous.
template <class T>
[[gnu::noinline]] void multiply_tiny_whole(const Gemm<T>& call, const Kernels<T, T, T>& lines) {
  const auto& kernels = tiny_kernels<T>(call.N);
  if (call.b_col == 1) return gemm_tiny(call, kernels, call.B, call.b_row);
  if (is_for_dots(call, lines))
    return multiply_dots(call, 2 * call.K < lines.lanes ? kernels : lines);
  const TinyPanel<T> B(call, kernels, call.B);
  gemm_tiny(call, kernels, B.k_groups, B.width);
}
template <class T>
void multiply_tiny(const Gemm<T>& asked) {
  const auto& lines = plain_kernels<T>();
  if (columns_left(asked, lines) == 0) return multiply_tiny_whole(asked, lines);
  Gemm<T> call = asked;
  take_columns(call, lines);
  if (call.N > 0) multiply_tiny_whole(call, lines);
}

}  // namespace

}  // namespace tessera::cpu
