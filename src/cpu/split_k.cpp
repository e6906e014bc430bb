// Split K as a batch of products into separate sums, which are then added row by row.
#include "tessera/cpu/split_k.hpp"

#include <algorithm>
#include <array>
#include <atomic>

#include "choose_kernels.hpp"
#include "each_product.hpp"
#include "epilogue.hpp"
#include "reported_route.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/core/team.hpp"
#include "tessera/cpu/batch.hpp"
#include "workspace.hpp"

namespace tessera::cpu {

namespace {

/// Limits of parts: deep enough that adding their sums is negligible, and with enough work that
/// handing one to a thread is too (fewer elements count as kLeastElements, because of the latency
/// of a chain). An upper limit on the number of parts, and on the elements of all their sums.
constexpr index_t kLeastDepth = 512, kLeastWork = index_t{1} << 18;
constexpr index_t kLeastElements = 64;
constexpr index_t kMostParts = 64, kMostSums = index_t{1} << 24;

}  // namespace

index_t split_k_depth(index_t M, index_t N, index_t K) {
  M = std::max<index_t>(1, M), N = std::max<index_t>(1, N);
  const index_t room = kMostSums / M / N;
  const index_t elements = bounded_product(M, N, 1);
  const index_t least = std::max(kLeastDepth, kLeastWork / std::max(elements, kLeastElements));
  const index_t parts = std::clamp<index_t>(K / least, 1, std::clamp<index_t>(room, 1, kMostParts));
  const index_t even = (K + parts - 1) / parts;
  return (even + 63) / 64 * 64;
}

namespace {

/// Part p of K, into its sums (M,N), stored after those of earlier parts.
template <class In, class Out, class Sum>
Gemm<In, Sum> part_of(const Gemm<In, Out>& call, index_t depth, index_t p, Sum* sums) {
  Gemm<In, Sum> part;
  part.M = call.M, part.N = call.N, part.K = std::min(depth, call.K - p * depth);
  part.A = call.A + p * depth * call.a_col, part.a_row = call.a_row, part.a_col = call.a_col;
  part.B = call.B + p * depth * call.b_row, part.b_row = call.b_row, part.b_col = call.b_col;
  part.C = sums + p * call.M * call.N, part.c_row = call.N;
  part.threads = call.threads;
  return part;
}

/// Row i of C from the sums of all parts, a few cache lines at a time.
template <class In, class Out, class Table, class Sum>
void add_parts(const Gemm<In, Out>& call, const Table& kernels, index_t parts, const Sum* sums,
               index_t i) {
  constexpr index_t most = kMostColumns;
  for (index_t j = 0; j < call.N; j += most) {
    const index_t count = std::min(most, call.N - j);
    alignas(64) Sum total[most];
    std::copy_n(sums + i * call.N + j, count, total);
    for (index_t p = 1; p < parts; ++p) {
      const Sum* part = sums + (p * call.M + i) * call.N + j;
      for (index_t n = 0; n < count; ++n) {
        if constexpr (std::is_integral_v<Sum>) total[n] = fma(Sum{1}, part[n], total[n]);
        else total[n] += part[n];
      }
    }
    finish_tile(call, call.C, kernels, total, most, i, j, 1, static_cast<int>(count));
  }
}

/// Bytes of the sums of all parts; 0: one part only, or sums of C that go on as one chain.
template <class In, class Out>
std::size_t bytes_of_sums(const Gemm<In, Out>& call) {
  const index_t depth = split_k_depth(call.M, call.N, call.K);
  if (call.M <= 0 || call.N <= 0 || call.K <= depth || call.alpha == 0) return 0;
  if (call.chain == Chain::goes_on) return 0;
  const index_t parts = (call.K + depth - 1) / depth;
  return static_cast<std::size_t>(parts * call.M * call.N) * sizeof(typename Gemm<In, Out>::Sum);
}

/// The same sums for a few columns of one row at a time, which the stack has room for.
template <class In, class Out, class Table>
void split_without_memory(const Gemm<In, Out>& call, const Table& kernels, index_t depth,
                          index_t parts) {
  constexpr index_t kColumns = 16;
  typename Gemm<In, Out>::Sum sums[kMostParts * kColumns];
  for (index_t i = 0; i < call.M; ++i) {
    for (index_t j = 0; j < call.N; j += kColumns) {
      Gemm<In, Out> few = call;
      few.M = 1, few.N = std::min(kColumns, call.N - j), few.threads = 1;
      few.A += i * call.a_row, few.B += j * call.b_col;
      few.C += i * call.c_row + j * call.c_col;
      if (few.bias.kind != Bias::none) few.bias.values = few.bias.at(i, j);
      for (index_t p = 0; p < parts; ++p) gemm(part_of(few, depth, p, sums));
      add_parts(few, kernels, parts, sums, 0);
    }
  }
}

}  // namespace

template <class In, class Out>
std::size_t split_k_bytes(const Gemm<In, Out>& call) {
  using Sum = typename Gemm<In, Out>::Sum;
  const std::size_t sums = bytes_of_sums(call);
  if (sums == 0) return workspace_bytes(call);
  const index_t depth = split_k_depth(call.M, call.N, call.K);
  const index_t parts = (call.K + depth - 1) / depth;
  const int threads = useful_threads(call.threads > 0 ? call.threads : default_threads());
  Gemm<In, Sum> part;
  part.M = call.M, part.N = call.N, part.K = depth;
  part.a_row = call.a_row, part.a_col = call.a_col;
  part.b_row = call.b_row, part.b_col = call.b_col, part.c_row = call.N;
  const bool shares_out =
      parts >= 2 * threads;  // whole parts for each thread, as run_products does for this many
  part.threads = shares_out ? 1 : threads;
  return sums + workspace_bytes(part) * static_cast<std::size_t>(shares_out ? threads : 1);
}

template <class In, class Out>
void gemm_split_k(const Gemm<In, Out>& call) {
  using Sum = typename Gemm<In, Out>::Sum;
  const std::size_t bytes = bytes_of_sums(call);
  if (bytes == 0) return gemm(call);
  const index_t depth = split_k_depth(call.M, call.N, call.K);
  const index_t parts = (call.K + depth - 1) / depth;
  Workspace workspace(bytes);
  with_kernels<In>([&](const auto& kernels) {
    if (!workspace) return split_without_memory(call, kernels, depth, parts);
    Sum* const sums = workspace.take<Sum>(0);
    std::array<Gemm<In, Sum>, kMostParts> calls;
    for (index_t p = 0; p < parts; ++p)
      calls[static_cast<std::size_t>(p)] = part_of(call, depth, p, sums);
    gemm_batch(calls.data(), parts);
    // Estimate: four elements per nanosecond.
    const int threads = call.threads > 0 ? call.threads : default_threads();
    std::atomic<index_t> next{0};
    run_team(static_cast<int>(std::min<index_t>(threads, call.M)), parts * call.M * call.N / 4,
             [&](int) {
               for (index_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < call.M;)
                 add_parts(call, kernels, parts, sums, i);
             });
  });
}

#define TESSERA_INSTANTIATE_PRODUCT(In, Out)        \
  template void gemm_split_k(const Gemm<In, Out>&); \
  template std::size_t split_k_bytes(const Gemm<In, Out>&);
#include "base/products.inc"
TESSERA_EACH_MIXED_PRODUCT(TESSERA_INSTANTIATE_PRODUCT)
#undef TESSERA_INSTANTIATE_PRODUCT

}  // namespace tessera::cpu
