// The entry to the packed path: sorts out what needs no packing (nothing to sum, tiny products, no
// memory for panels) and hands the rest to packed_product.hpp with the kernels of this CPU. Every
// route gives the same bits; called by matmul, PackedMatrix, batches and the BLAS.
#include "tessera/cpu/gemm.hpp"

#include <utility>

#include "choose_kernels.hpp"
#include "degenerate_strides.hpp"
#include "each_product.hpp"
#include "few_sums.hpp"
#include "gemm_route.hpp"
#include "lane_sums.hpp"
#include "one_panel.hpp"
#include "packed_product.hpp"
#include "small.hpp"
#include "small_k_groups.hpp"
#include "swapped.hpp"
#include "tessera/core/parallel.hpp"

namespace tessera::cpu {

namespace {

/// The number of threads to divide work for: one, where no worker would be used or available. Where
/// L3 is far, workers pay off only for more work. Measured: bench/results/cpu/tuning.md.
template <class In, class Out, class Table>
int threads_of(const Gemm<In, Out>& call, const Table& kernels) {
  const int most = call.threads > 0 ? call.threads : asked_threads();
  if (bounded_product(call.M, call.N, call.K) <= kTiny * kTiny * kTiny) return 1;
  const std::int64_t ns = expected_ns<In, Out>(call.M, call.N, call.K, kernels);
  // One row of A: parts of rows of B are read from L2 at half the speed of whole rows. Measured:
  // bench/results/cpu/tuning.md.
  const bool is_row = kIsPlainType<In, Out> && call.M == 1 && call.b_col == 1 &&
                      bounded_product(call.N, call.K, sizeof(In)) <= caches().l2 / 2;
  const bool is_small =
      is_row || (l3_is_far() && bounded_product(call.M, call.N, call.K) <= 64 * 64 * 64);
  if (is_small || !will_be_helped(most, ns)) return 1;
  return useful_threads(most > 0 ? most : default_threads());
}

/// C = finish(0): K = 0, or alpha = 0.
template <class In, class Out, class Table>
[[gnu::noinline]] void finish_zeros(const Gemm<In, Out>& call, const Table& kernels) {
  alignas(64) static const typename Gemm<In, Out>::Sum zeros[Table::kMaxRows * kMostColumns] = {};
  for (index_t i = 0; i < call.M; i += Table::kMaxRows) {
    for (index_t j = 0; j < call.N; j += kMostColumns) {
      finish_tile(call, call.C, kernels, zeros, kMostColumns, i, j,
                  static_cast<int>(std::min<index_t>(Table::kMaxRows, call.M - i)),
                  static_cast<int>(std::min<index_t>(kMostColumns, call.N - j)));
    }
  }
}

/// K-groups that gemm_without_memory packs at a time, including the extra ones.
constexpr index_t kShortPanel = 24;

/// Needs no memory but 17 KiB of stack: short panels are packed anew for every micro-tile, or read
/// from `packed`.
template <class In, class Out, class Source, class KGroup, class Sum>
void gemm_without_memory(const Gemm<In, Out>& call, const Kernels<Source, KGroup, Sum>& kernels,
                         const PackedMatrix<In>* packed = nullptr) {
  constexpr int kMostRows = Kernels<Source, KGroup, Sum>::kMostRows;
  alignas(64) KGroup a[kShortPanel * kMostRows], b[kShortPanel * kMostColumns];
  alignas(64) Sum sums[kMostRows * kMostColumns];
  const int nr = packed != nullptr ? packed->nr() : kernels.nr();
  const index_t k_groups = ceil_div(call.K, kernels.group);
  const index_t kc_block = packed != nullptr ? packed->kc() : k_groups;
  const auto* A = reinterpret_cast<const Source*>(call.A);
  const auto* B = reinterpret_cast<const Source*>(call.B);
  // K-groups [w, w + deep) of the columns from j on.
  const auto panel_of_b = [&](index_t w, index_t deep, index_t j, int cols) {
    const index_t k = w * kernels.group, depth = std::min(deep * kernels.group, call.K - k);
    if (packed == nullptr)
      return kernels.pack_b(b, nr, B + k * call.b_row + j * call.b_col, cols, depth, call.b_col,
                            call.b_row);
    const index_t first = w / kc_block * kc_block,
                  kc_block_k_groups = std::min(kc_block, k_groups - first);
    const KGroup* panel = static_cast<const KGroup*>(packed->data()) +
                          first / kc_block * (kc_block + kernels.b_extra) * round_up(call.N, nr) +
                          j * (kc_block_k_groups + kernels.b_extra) + (w - first) * nr;
    std::copy_n(panel, deep * nr, b);
    std::fill_n(b + deep * nr, index_t{kernels.b_extra} * nr, KGroup{});
  };
  for (index_t i = 0; i < call.M; i += kernels.rows) {
    const int rows = static_cast<int>(std::min<index_t>(kernels.rows, call.M - i));
    for (index_t j = 0; j < call.N; j += nr) {
      const int cols = static_cast<int>(std::min<index_t>(nr, call.N - j));
      const int vectors = kernels.vectors_of(cols);
      if constexpr (std::is_same_v<Out, Sum>) {
        for (int r = 0; call.chain == Chain::goes_on && r < rows; ++r)
          std::copy_n(call.C + (i + r) * call.c_row + j, cols, sums + r * kMostColumns);
      }
      for (index_t w = 0, deep; w < k_groups; w += deep) {
        deep = std::min({kShortPanel - std::max(kernels.a_extra, kernels.b_extra),
                         kc_block - w % kc_block, k_groups - w});
        const index_t k = w * kernels.group;
        kernels.pack_a(a, kernels.rows, A + i * call.a_row + k * call.a_col, rows,
                       std::min(deep * kernels.group, call.K - k), call.a_row, call.a_col);
        panel_of_b(w, deep, j, cols);
        MicroTile<KGroup, Sum> micro{};
        micro.K = deep, micro.a = a, micro.b = b, micro.b_k = nr;
        micro.c = sums, micro.c_row = kMostColumns, micro.cols = cols, micro.rows = rows;
        micro.resume = w > 0 || call.chain == Chain::goes_on;
        kernels.packed[kernels.entry(rows)][vectors - 1](micro);
      }
      finish_tile(call, call.C, kernels, sums, kMostColumns, i, j, rows, cols);
    }
  }
}

/// Calls body(call, kernels) with the call in the form that Product expects: vectors along the
/// longer side of C.
template <class In, class Out, class Table, class Body>
void with_prepared(Gemm<In, Out> call, const Table& kernels, int threads, const Body& body) {
  call.threads = threads;
  if (!has_few_columns(call, kernels.lanes, kernels.group)) return body(call, kernels);
  if constexpr (std::is_same_v<ElementA<In>, ElementB<In>>) {
    body(swapped(call), kernels);
  } else {
    with_kernels<typename OperandTypes<In>::Swapped>(
        [&](const auto& others) { body(swapped(call), others); });
  }
}

template <class In, class Out, class Table>
Product<In, Out, Table> product_of(const Gemm<In, Out>& call, const Table& kernels) {
  return {call, kernels};
}

/// The product of columns [j, j_end) of B.
template <class In, class Out>
Gemm<In, Out> columns_of(Gemm<In, Out> call, index_t j, index_t j_end) {
  call.N = j_end - j;
  call.B += j * call.b_col, call.C += j * call.c_col;
  if (call.bias.kind == Bias::per_column) call.bias.values += j;
  return call;
}

/// Where it pays off, the columns before the first vector boundary of C are computed separately, so
/// that the others can use non-temporal stores: malloc returns memory 16 bytes after a cache line's
/// start. Measured: bench/results/cpu/tuning.md.
template <class In, class Out, class Table>
void run_product(const Gemm<In, Out>& call, const Table& kernels) {
  Product<In, Out, Table> product(call, kernels);
  if (const index_t first = product.columns_before_streaming(); first > 0) {
    run_product(columns_of(call, 0, first), kernels);
    run_product(columns_of(call, first, call.N), kernels);
  } else if (!product.run()) {
    gemm_without_memory(call, kernels);
  }
}

template <class T>
[[gnu::noinline]] void gemm_lanes(const Gemm<T>& call) {
  if (call.M > call.N) return gemm_lanes(swapped(call));
  const auto& kernels = plain_kernels<T>();
  const int threads = threads_of(call, kernels);
  if (threads == 1) return multiply_lane_columns(call, kernels, 0, call.N);
  share_lanes(call, kernels, threads, expected_ns<T, T>(call.M, call.N, call.K, kernels));
}

template <class T>
GemmRoute route_of_lanes(const Gemm<T>& call) {
  if (call.M > call.N) return route_of_lanes(swapped(call));
  const OnlyAsking asks;
  return {"lanes", "A and B contiguous along K: chains side by side",
          threads_of(call, plain_kernels<T>())};
}

template <class In, class Out, class Table>
[[gnu::noinline]] void gemm_with(Gemm<In, Out> call, const Table& kernels) {
  const int threads = threads_of(call, kernels);
  if constexpr (kIsPlainType<In, Out>) {
    if (threads == 1 && gemm_small(call, kernels)) return;
  } else {
    if (threads == 1 && gemm_k_group_dots(call, kernels, call.A, call.B, call.C)) return;
    if (threads == 1 && is_for_k_groups(call, kernels) && gemm_small_k_groups(call, kernels))
      return;
  }
  with_prepared(call, kernels, threads,
                [](const auto& prepared, const auto& table) { run_product(prepared, table); });
}

}  // namespace

template <class In, class Out>
[[gnu::noinline]] void gemm_swapped(const Gemm<In, Out>& asked) {
  gemm(swapped(asked));
}

template <class T>
bool gemm_if_tiny(index_t M, index_t N, index_t K, const T* A, index_t a_row, index_t a_col,
                  const T* B, index_t b_row, T* C, index_t c_row, T alpha, T beta) {
  // Or equally little work in other extents that takes the same route: 1x64x64, 4x4x200.
  constexpr index_t most = kTiny * kTiny * kTiny, narrow = 8;
  const bool is_tiny = M <= kTiny && N <= kTiny && K <= kTiny;
  const bool has_columns = N <= narrow && M > narrow;  // may be split off: see columns_left()
  if (!is_tiny && (has_columns || M > kSmallExtent || K > kSmallExtent || M * N * K > most))
    return false;
  const auto& kernels = tiny_kernels<T>(N);
  const bool ends = alpha != T{1} || beta != T{0};
  if (N > kernels.one_panel() && !ends && M <= kernels.rows) {
    multiply_strips(M, N, K, A, a_row, a_col, B, b_row, C, c_row, kernels);
    return true;
  }
  if (N > kernels.one_panel() || (ends && (alpha == T{0} || !kernels.finishes))) return false;
  const bool may_leave = N <= narrow || may_be_left(N & (kernels.lanes - 1));
  if (may_leave && M > narrow && !ends && (a_row == 1 || a_col == 1)) {
    const auto& lines = plain_kernels<T>();
    if (const index_t left = columns_left(M, N, K, a_row == 1, false, lines); left > 0) {
      N -= left;
      multiply_columns(M, left, K, A, a_row, a_col, B + N, b_row, index_t{1}, C + N, c_row, lines);
      if (N == 0) return true;
    }
  }
  const OnePanel<T> panel(M, N, kernels, ends);
  if (!ends) panel.run(M, N, K, A, a_row, a_col, B, b_row, C, c_row);
  else panel.run(M, N, K, A, a_row, a_col, B, b_row, C, c_row, {alpha, beta, nullptr, nullptr, {}});
  return true;
}

/// Sums that go on: only the routes that store sums load them.
template <class In, class Out>
[[gnu::noinline]] void gemm_goes_on(const Gemm<In, Out>& asked) {
  if (asked.K <= 0) return;
  with_kernels<In>([&](const auto& kernels) {
    using Table = std::remove_cvref_t<decltype(kernels)>;
    Gemm<In, Out> call = asked;
    call.threads = threads_of(call, kernels);
    if (!Product<In, Out, Table>(call, kernels).run()) gemm_without_memory(call, kernels);
  });
}

template <class In, class Out>
void gemm(const Gemm<In, Out>& asked) {
  if (asked.M <= 0 || asked.N <= 0) return;
  if (has_degenerate_strides(asked)) return gemm(clamped(asked));
  if (asked.chain == Chain::goes_on) return gemm_goes_on(asked);
  // Vectors run along the rows of C, whose elements should be contiguous.
  if (asked.c_col != 1 && asked.c_row == 1) return gemm_swapped(asked);
  const bool zero = asked.K <= 0 || asked.alpha == 0;
  if constexpr (kIsPlainType<In, Out>) {
    if (zero) return finish_zeros(asked, plain_kernels<In>());
    if (is_for_lanes(asked)) return gemm_lanes(asked);
    if (is_for_chains(asked, plain_kernels<In>()))
      return multiply_chains(asked, plain_kernels<In>());
    if (!is_tiny(asked)) return gemm_with(asked, plain_kernels<In>());
    multiply_tiny(asked);
  } else {
    with_kernels<In>([&](const auto& kernels) {
      if (zero) finish_zeros(asked, kernels);
      else if (is_tiny(asked)) gemm_tiny_k_groups(asked, kernels, asked.A, asked.B, asked.C);
      else gemm_with(asked, kernels);
    });
  }
}

template <class In, class Out>
void gemm(const Gemm<In, Out>& asked, const PackedMatrix<In>& B) {
  if (asked.M <= 0 || asked.N <= 0) return;
  if (has_degenerate_strides(asked)) return gemm(clamped(asked), B);
  with_kernels<In>([&](const auto& kernels) {
    if (asked.K <= 0 || asked.alpha == 0) return finish_zeros(asked, kernels);
    Gemm<In, Out> call = asked;
    if constexpr (std::is_same_v<In, typename Gemm<In, Out>::Sum>) {
      // A single packed panel is also an ordinary unpacked B.
      if (is_small(call) && call.N <= B.nr() && call.K <= B.kc()) {
        call.B = static_cast<const In*>(B.data()), call.b_row = B.nr(), call.b_col = 1;
        return gemm(call);
      }
    }
    call.threads = threads_of(call, kernels);
    using Table = std::remove_cvref_t<decltype(kernels)>;
    if (!Product<In, Out, Table>(call, kernels, &B).run()) gemm_without_memory(call, kernels, &B);
  });
}

template <class In, class Out>
GemmRoute route_of(const Gemm<In, Out>& asked) {
  if (asked.M <= 0 || asked.N <= 0) return {"nothing", "C is empty", 1};
  if (has_degenerate_strides(asked)) return route_of(clamped(asked));
  if (asked.c_col != 1 && asked.c_row == 1) return route_of(swapped(asked));
  if (asked.K <= 0 || asked.alpha == 0) return {"scaled", "there is nothing to sum", 1};
  if constexpr (kIsPlainType<In, Out>) {
    if (is_for_lanes(asked)) return route_of_lanes(asked);
  }
  if (is_tiny(asked)) return {"tiny", "not worth sharing", 1};
  if constexpr (kIsPlainType<In, Out>) {
    if (is_for_chains(asked, plain_kernels<In>()))
      return {"small", "few sums, each one chain of multiply-adds", 1};
  }
  const OnlyAsking asks;
  GemmRoute route;
  with_kernels<In>([&](const auto& kernels) {
    const int threads = threads_of(asked, kernels);
    Gemm<In, Out> rest = asked;
    if constexpr (kIsPlainType<In, Out>) {
      if (threads == 1) rest.N -= columns_left(asked, kernels);
      if (threads == 1 && (rest.N == 0 || small_form(rest, kernels) != SmallForm::no)) {
        route = {"small", "too little work to cut into tasks", 1};
        return;
      }
    } else if (threads == 1 &&
               (is_for_k_group_dots(asked, kernels) || is_for_k_groups(asked, kernels))) {
      route = {"small", "too little work to cut into tasks", 1};
      return;
    }
    const bool waits = threads == 1 && (asked.threads > 0 ? asked.threads : default_threads()) > 1;
    with_prepared(rest, kernels, threads, [&](const auto& call, const auto& table) {
      route.threads = call.threads;
      switch (product_of(call, table).stream()) {
        case Stream::none:
          route.name = "packed";
          route.reason = waits
                             ? "blocks for the caches; single-threaded: threading would not pay off"
                             : "blocks for the caches";
          break;
        case Stream::strips:
          route.name = "strips";
          route.reason =
              waits ? "read in place, from the caches; single-threaded: threading would not pay off"
                    : "read in place, from the caches";
          break;
        default:
          route.name = "few_rows";
          route.reason =
              waits
                  ? "the larger operand is read once; single-threaded: threading would not pay off"
                  : "the larger operand is read once";
      }
    });
  });
  return route;
}

template <class In, class Out>
std::size_t workspace_bytes(const Gemm<In, Out>& asked) {
  if (has_degenerate_strides(asked)) return workspace_bytes(clamped(asked));
  if (asked.c_col != 1 && asked.c_row == 1) return workspace_bytes(swapped(asked));
  if (asked.M <= 0 || asked.N <= 0 || asked.K <= 0 || asked.alpha == 0 || is_tiny(asked)) return 0;
  if constexpr (kIsPlainType<In, Out>) {
    if (is_for_lanes(asked) || is_for_chains(asked, plain_kernels<In>())) return 0;
  }
  std::size_t bytes = 0;
  with_kernels<In>([&](const auto& kernels) {
    const int threads = asked.threads > 0 ? asked.threads : default_threads();
    Gemm<In, Out> rest = asked;
    if constexpr (kIsPlainType<In, Out>) {
      // Or one thread computes it, where it is too small to share.
      rest.N -= columns_left(asked, kernels);
      const SmallForm route = rest.N > 0 ? small_form(rest, kernels) : SmallForm::lines;
      if (route == SmallForm::panel) bytes = panel_bytes(rest, kernels);
      if (threads == 1 && route != SmallForm::no) return;
      if (threads > 1) rest = asked;
    } else if (is_for_k_group_dots(asked, kernels)) {
      if (threads == 1) return;
    } else if (is_for_k_groups(asked, kernels)) {
      bytes = packed_k_groups(asked, kernels).bytes();
      if (threads == 1) return;
    }
    with_prepared(rest, kernels, threads, [&](const auto& call, const auto& table) {
      bytes = std::max(bytes, product_of(call, table).workspace());
    });
  });
  return bytes;
}

bool bf16_keeps_the_chain() { return bf16_pair_kernels() == nullptr; }
bool f16_keeps_the_chain() { return f16_pair_kernels() == nullptr; }

template bool gemm_if_tiny(index_t, index_t, index_t, const double*, index_t, index_t,
                           const double*, index_t, double*, index_t, double, double);
template bool gemm_if_tiny(index_t, index_t, index_t, const float*, index_t, index_t, const float*,
                           index_t, float*, index_t, float, float);

#define TESSERA_INSTANTIATE(In, Out)                                 \
  template void gemm(const Gemm<In, Out>&);                          \
  template void gemm(const Gemm<In, Out>&, const PackedMatrix<In>&); \
  template GemmRoute route_of(const Gemm<In, Out>&);                 \
  template std::size_t workspace_bytes(const Gemm<In, Out>&);
TESSERA_EACH_PRODUCT(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::cpu
