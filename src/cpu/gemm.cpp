// The entry to the packed path: carries out the route that choose.hpp decides. Every route gives
// the same bits; called by matmul, PackedMatrix, batches and the BLAS. Measurements:
// bench/results/cpu/tuning.md.
#include "tessera/cpu/gemm.hpp"

#include <utility>

#include "choose.hpp"
#include "each_product.hpp"
#include "lane_sums.hpp"
#include "lanes_at_once.hpp"
#include "one_panel.hpp"
#include "packed/product.hpp"
#include "reported_route.hpp"
#include "small/k_groups.hpp"
#include "small/products.hpp"

namespace tessera::cpu {

namespace {

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
  const Prepared unit(kernels);
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
/// start.
template <class In, class Out, class Table>
void multiply_packed(const Gemm<In, Out>& call, const Table& kernels, const PackedPlan& plan) {
  if (const index_t first = plan.columns_before; first > 0) {
    for (const auto& part : {columns_of(call, 0, first), columns_of(call, first, call.N)})
      multiply_packed(part, kernels, plan_packed(part, kernels));
  } else if (!Product<In, Out, Table>(call, kernels, plan).run()) {
    gemm_without_memory(call, kernels);
  }
}

template <class T>
[[gnu::noinline]] void run_lanes(const Gemm<T>& call, const Kernels<T, T, T>& kernels,
                                 const Route& route) {
  if (route.threads == 1) return multiply_lane_columns(call, kernels, 0, call.N);
  share_lanes(call, kernels, route.threads, expected_ns<T, T>(call.M, call.N, call.K, kernels));
}

/// Tiny or small. False where there is no memory.
template <class In, class Out, class Table>
bool run_small(Gemm<In, Out>& call, const Table& kernels, const Route& route) {
  const bool is_tiny = route.variant == Variant::tiny;
  if constexpr (kIsPlainType<In, Out>) {
    if (call.N == 0) return true;
    if (!is_tiny) return multiply_small(call, kernels, route.form);
    multiply_tiny(call, kernels, route.form);
  } else {
    if (!is_tiny) return multiply_small_k_groups(call, kernels, route.form);
    multiply_tiny_k_groups(call, kernels, route.form, call.A, call.B, call.C);
  }
  return true;
}

template <class In, class Out, class Table>
[[gnu::noinline]] void run_route(const Gemm<In, Out>& asked, const Table& kernels,
                                 const Route& route) {
  Gemm<In, Out> call = asked;
  call.threads = route.threads;
  if constexpr (kIsPlainType<In, Out>) {
    if (route.columns_apart > 0) take_columns(call, route.columns_apart, kernels);
  }
  if (route.variant != Variant::packed) {
    if (!run_small(call, kernels, route)) gemm_without_memory(call, kernels);
  } else if (!route.is_transposed) {
    multiply_packed(call, kernels, route.packed);
  } else {
    with_oriented(call, kernels, [&](const auto& oriented, const auto& table) {
      multiply_packed(oriented, table, route.packed);
    });
  }
}

template <class In, class Out, class Table>
void gemm_with(const Gemm<In, Out>& call, const Table& kernels) {
  const Route route = choose(call, kernels, workers_would_join);
  if (route.variant == Variant::nothing) return;
  if (route.variant == Variant::scaled) return finish_zeros(call, kernels);
  if constexpr (kIsPlainType<In, Out>) {
    if (route.variant == Variant::lanes)
      return route.is_transposed ? run_lanes(swapped(call), kernels, route)
                                 : run_lanes(call, kernels, route);
    if (route.variant == Variant::chains) return multiply_chains(call, kernels);
    if (route.variant == Variant::tiny && route.columns_apart == 0)
      return multiply_tiny(call, kernels, route.form);
  } else if (route.variant == Variant::tiny) {
    return multiply_tiny_k_groups(call, kernels, route.form, call.A, call.B, call.C);
  }
  run_route(call, kernels, route);
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

template <class T>
bool lanes_at_once(index_t M, index_t N, index_t K, const T* A, index_t a_row, const T* B,
                   index_t b_col, T* C, index_t c_row) {
  if (bounded_product(M, N, K) > kTiny * kTiny * kTiny) return false;
  if (M == 1) a_row = c_row = 0;  // they may be anything
  if (N == 1) b_col = 0;
  const auto& kernels = plain_kernels<T>();
  if (M <= N) kernels.lane_sums({K, A, a_row, 1, B, 1, b_col, C, c_row}, M, N);
  else if (c_row == 1) kernels.lane_sums({K, B, b_col, 1, A, 1, a_row, C, 0}, N, M);  // a column
  else transposed_lane_sums<T>({K, B, b_col, 1, A, 1, a_row, nullptr, 0}, kernels, N, M, C, c_row);
  return true;
}

template <class In, class Out>
void gemm(const Gemm<In, Out>& asked) {
  if (has_degenerate_strides(asked)) return gemm(clamped(asked));
  if (is_to_be_swapped(asked)) return gemm_swapped(asked);
  with_kernels<In>([&](const auto& kernels) { gemm_with(asked, kernels); });
}

template <class In, class Out>
void gemm(const Gemm<In, Out>& asked, const PackedMatrix<In>& B) {
  if (has_degenerate_strides(asked)) return gemm(clamped(asked), B);
  with_kernels<In>([&](const auto& kernels) {
    Gemm<In, Out> call = asked;
    if constexpr (std::is_same_v<In, typename Gemm<In, Out>::Sum>) {
      // A single packed panel is also an ordinary unpacked B.
      if (is_small(call) && call.N <= B.nr() && call.K <= B.kc()) {
        call.B = static_cast<const In*>(B.data()), call.b_row = B.nr(), call.b_col = 1;
        return gemm(call);
      }
    }
    const Route route = choose(call, kernels, B, workers_would_join);
    if (route.variant == Variant::nothing) return;
    if (route.variant == Variant::scaled) return finish_zeros(call, kernels);
    call.threads = route.threads;
    using Table = std::remove_cvref_t<decltype(kernels)>;
    if (!Product<In, Out, Table>(call, kernels, route.packed, &B).run())
      gemm_without_memory(call, kernels, &B);
  });
}

namespace {

template <class In, class Out>
Route route_where(const Gemm<In, Out>& asked, Helped helped) {
  if (has_degenerate_strides(asked)) return route_where(clamped(asked), helped);
  if (is_to_be_swapped(asked)) return route_where(swapped(asked), helped);
  Route route;
  with_kernels<In>([&](const auto& kernels) { route = choose(asked, kernels, helped); });
  return route;
}

}  // namespace

template <class In, class Out>
GemmRoute route_of(const Gemm<In, Out>& asked) {
  const PredictOnly predict_only;
  const int most = asked.threads > 0 ? asked.threads : default_threads();
  return report_of(route_where(asked, workers_would_join), most);
}

template <class In, class Out>
std::size_t workspace_bytes(const Gemm<In, Out>& asked) {
  const auto bytes = [&](Helped helped) { return route_where(asked, helped).workspace; };
  return std::max(bytes([](int, std::int64_t) { return false; }),
                  bytes([](int threads, std::int64_t) {
                    return (threads > 0 ? threads : default_threads()) > 1;
                  }));
}

bool bf16_keeps_the_chain() { return bf16_pair_kernels() == nullptr; }
bool f16_keeps_the_chain() { return f16_pair_kernels() == nullptr; }

template bool lanes_at_once(index_t, index_t, index_t, const double*, index_t, const double*,
                            index_t, double*, index_t);
template bool lanes_at_once(index_t, index_t, index_t, const float*, index_t, const float*, index_t,
                            float*, index_t);
template bool gemm_if_tiny(index_t, index_t, index_t, const double*, index_t, index_t,
                           const double*, index_t, double*, index_t, double, double);
template bool gemm_if_tiny(index_t, index_t, index_t, const float*, index_t, index_t, const float*,
                           index_t, float*, index_t, float, float);

#define TESSERA_INSTANTIATE_PRODUCT(In, Out)                         \
  template void gemm(const Gemm<In, Out>&);                          \
  template void gemm(const Gemm<In, Out>&, const PackedMatrix<In>&); \
  template GemmRoute route_of(const Gemm<In, Out>&);                 \
  template std::size_t workspace_bytes(const Gemm<In, Out>&);
#include "base/products.inc"
TESSERA_EACH_MIXED_PRODUCT(TESSERA_INSTANTIATE_PRODUCT)
#undef TESSERA_INSTANTIATE_PRODUCT

template void gemm(const ComplexGemm<float>&);
template void gemm(const ComplexGemm<double>&);
template GemmRoute route_of(const ComplexGemm<float>&);
template GemmRoute route_of(const ComplexGemm<double>&);

}  // namespace tessera::cpu
