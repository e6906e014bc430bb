// Which products one thread computes without tasks, and how: tiny and small ones, few sums, few
// columns, and the order `lanes`. Decisions alone: products.hpp, k_groups.hpp and lane_sums.hpp
// carry them out. choose.hpp asks them in order. Measurements: bench/results/cpu/tuning.md.
#pragma once

#include <algorithm>
#include <bit>
#include <type_traits>

#include "cpu/blocking.hpp"
#include "cpu/choose_kernels.hpp"
#include "cpu/epilogue.hpp"
#include "cpu/workspace.hpp"
#include "tessera/core/team.hpp"
#include "tessera/cpu/lanes.hpp"

namespace tessera::cpu {

/// In, Out and the sums are one type, so microkernels read and store unpacked elements.
template <class In, class Out>
constexpr bool kIsPlainType = std::is_same_v<In, Out>&& std::is_same_v<In, Accumulator<In>>;

/// Products up to this size in each extent run at once, on the caller alone. A multiple of all
/// lanes.
constexpr index_t kTiny = 48;

/// What is packed for such a product must fit the stack.
template <class In, class Out>
bool is_tiny(const Gemm<In, Out>& call) {
  constexpr auto sum_bytes = static_cast<index_t>(sizeof(typename Gemm<In, Out>::Sum));
  constexpr index_t most = kIsPlainType<In, Out> ? kTiny : kTiny * 4 / sum_bytes;
  return call.M <= most && call.N <= most && call.K <= most;
}

/// Up to this much work, one thread is faster than dividing it into tasks.
constexpr index_t kSmallWork = 120 * 120 * 120, kSmallExtent = 256;

template <class In, class Out>
bool is_small(const Gemm<In, Out>& call) {
  return call.M <= kSmallExtent && call.N <= kSmallExtent && call.K <= kSmallExtent &&
         call.M * call.N * call.K <= kSmallWork;
}

/// Do a few columns of C leave at least half of a vector empty, with enough rows and depth to
/// compute C' = B' A' instead?
template <class In, class Out>
bool has_few_columns(const Gemm<In, Out>& call, int lanes, int group) {
  if (call.N * 2 > lanes) return false;
  const bool is_long = call.M > 4 * call.N;
  if (call.N * 4 <= lanes) return call.K >= index_t{16} * group && (is_long || call.M % lanes == 0);
  // Only vectors of 512 bits are transposed in registers.
  const bool transposes = group == 1 && lanes * sizeof(typename Gemm<In, Out>::Sum) == 64;
  const index_t least = transposes && call.M >= index_t{3} * lanes ? 16 : 96;
  return is_long && call.K >= least * group;
}

template <class T>
bool is_for_lanes(const Gemm<T>& call) {
  return call.arithmetic == Arithmetic::lanes && call.chain == Chain::begins &&
         takes_lanes<T>(call.M, call.N, call.K, call.a_col, call.b_row);
}

/// Are lines transposed in registers for vectors of this many lanes?
template <class T>
constexpr bool transposes(int lanes) {
  return lanes * sizeof(T) == 64;
}

/// Rows of A at this distance fall into two sets of L1, and evict each other and the other
/// operands: they are copied, if they are short enough for the stack.
template <class T>
constexpr index_t kCopiedK = 2048 / sizeof(T);
template <class T>
bool rows_meet(index_t rows, index_t K, index_t row) {
  return rows > kDotRowsOfAnyA && K > kSmallExtent && row * index_t{sizeof(T)} % 2048 == 0;
}

/// Elements of C that two tiles of chains hold.
constexpr index_t kFewSums = 16;

/// Do vectors along the longer side of C read contiguous elements?
template <class T>
bool suits_vectors(const Gemm<T>& call) {
  return (call.b_col == 1 && call.N >= call.M) || (call.a_row == 1 && call.M >= 4 * call.N);
}

/// One tile of chains is as fast as a product of so long a K can be. Two are better than vectors
/// that would have to be transposed first, unless one instruction does that for a whole cache line.
template <class T>
bool is_for_chains(const Gemm<T>& call, const Kernels<T, T, T>& kernels) {
  if (call.M > kFewSums || call.N > kFewSums || call.M * call.N > kFewSums) return false;
  constexpr index_t short_k = 16;
  if (kernels.chains == nullptr || call.K <= short_k) return false;
  const bool is_one_tile = call.M <= 8 && call.N <= 8 && call.M * call.N <= kMostChains;
  const bool is_better = is_one_tile ? call.K > kTiny || call.b_col != 1
                                     : !suits_vectors(call) && !transposes<T>(kernels.lanes);
  return is_better && bounded_product(call.M + call.N, call.K, sizeof(T)) <= caches().l2 / 2;
}

/// Is a matrix of lines of K elements so small that no prefetching is needed, and do the long rows
/// that are multiplied with it, `row` apart, not conflict in L1?
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

/// Estimated costs of the routes of a small product, in vector multiply-adds (throughput two per
/// cycle, latency four). The constants are fitted to products of up to 256 in each extent, with few
/// columns, or with B transposed, in f32 and f64.
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
  // Remainder columns take somewhat longer than that.
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

/// B packed as one panel: where its rows are not contiguous, and the panel stays in L1 or near it.
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
/// B unpacked with contiguous rows, and not faster in strips that have an epilogue. Or so narrow
/// that one micro-tile has all columns, whatever M.
template <class T>
bool is_for_tiles(const Gemm<T>& call, const Kernels<T, T, T>& kernels) {
  const bool is_thin = call.N <= kernels.lanes && call.K <= kSmallExtent &&
                       bounded_product(call.M, call.N, call.K) <= kSmallWork;
  return (is_small(call) || is_thin) && call.b_col == 1 &&
         (call.M > 2 || call.N <= kernels.one_panel() || is_plain(call));
}

/// How one thread computes a whole product: in tasks after all; by micro-tiles from B in place; in
/// dot form, with rows or, in K-groups, columns of C as the few; with B, in K-groups also A, packed
/// as a whole.
enum class SmallForm : char { no, tiles, dots, column_dots, panel };
template <class T>
SmallForm small_form(const Gemm<T>& call, const Kernels<T, T, T>& kernels) {
  // With an epilogue, tasks compute a few columns as rows of C'.
  if (!is_plain(call) && has_few_columns(call, kernels.lanes, kernels.group)) return SmallForm::no;
  if (is_for_tiles(call, kernels)) return SmallForm::tiles;
  if (is_for_dots(call, kernels)) return SmallForm::dots;
  return is_for_a_panel(call, kernels) ? SmallForm::panel : SmallForm::no;
}

/// The same for a tiny product, which no task computes.
template <class T>
SmallForm tiny_form(const Gemm<T>& call, const Kernels<T, T, T>& kernels) {
  if (call.b_col == 1) return SmallForm::tiles;
  return is_for_dots(call, kernels) ? SmallForm::dots : SmallForm::panel;
}

/// Columns of a panel of B: as few panels as possible, equal ones.
template <class Table>
int small_panel(index_t N, const Table& kernels) {
  if (N <= kernels.nr()) return kernels.lanes * kernels.vectors_of(static_cast<int>(N));
  return static_cast<int>(even_part(N, kernels.nr(), kernels.lanes));
}

/// Few rows in dot form from K-groups; `in_columns`: few columns, as rows of C'.
template <class In, class Out, class Table>
bool is_for_k_group_dots(const Gemm<In, Out>& call, const Table& kernels, bool in_columns) {
  const index_t rows = in_columns ? call.N : call.M, lines = in_columns ? call.M : call.N;
  const index_t along = in_columns ? call.a_col : call.b_row, k_groups = call.K / kernels.group;
  return rows <= kernels.dot_rows && along == 1 && lines > rows && 2 * k_groups >= kernels.lanes &&
         k_groups < kSmallExtent && (!in_columns || rows * kernels.group <= kernels.lanes) &&
         bounded_product(call.M, call.N, call.K) <= kSmallWork;
}
/// K-groups of both factors, packed.
struct PackedKGroups {
  index_t a, b;  ///< in bytes
  std::size_t bytes() const { return bytes_of_a() + rounded(b); }
  std::size_t bytes_of_a() const { return rounded(a); }

 private:
  static std::size_t rounded(index_t bytes) {
    return Workspace::rounded(static_cast<std::size_t>(bytes));
  }
};
template <class In, class Out, class Table>
PackedKGroups packed_k_groups(const Gemm<In, Out>& call, const Table& kernels) {
  const index_t k_groups = ceil_div(call.K, kernels.group);
  constexpr auto bytes = static_cast<index_t>(sizeof(typename Gemm<In, Out>::Sum));  // of a K-group
  return {round_up(call.M, kernels.rows) * (k_groups + kernels.a_extra) * bytes,
          round_up(call.N, small_panel(call.N, kernels)) * (k_groups + kernels.b_extra) * bytes};
}

/// Products of which one thread packs both factors and multiplies without tasks: B stays in L1. For
/// more rows than are multiplied with an unpacked B.
template <class In, class Out, class Table>
bool is_for_k_groups(const Gemm<In, Out>& call, const Table& kernels) {
  if constexpr (std::is_same_v<In, typename Gemm<In, Out>::Sum>) return false;  // f32 into 16 bits
  return call.M <= kSmallExtent && call.N <= kSmallExtent &&
         call.K <= kSmallExtent * kernels.group && call.M > Table::kAxpyRows[Table::kAxpys - 1] &&
         !has_few_columns(call, kernels.lanes, kernels.group) &&
         packed_k_groups(call, kernels).b <= caches().l1 * 2 / 3;
}

/// How one thread computes a product of elements that become K-groups.
template <class In, class Out, class Table>
SmallForm k_group_form(const Gemm<In, Out>& call, const Table& kernels) {
  if (is_for_k_group_dots(call, kernels, false)) return SmallForm::dots;
  if (is_for_k_group_dots(call, kernels, true)) return SmallForm::column_dots;
  return is_tiny(call) || is_for_k_groups(call, kernels) ? SmallForm::panel : SmallForm::no;
}

}  // namespace tessera::cpu
