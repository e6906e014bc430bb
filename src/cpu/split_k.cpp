// Split K as a batch of products into sums of their own, which are then added row by row.
#include "tessera/cpu/split_k.hpp"

#include <algorithm>
#include <vector>

#include "tessera/core/error.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/core/text.hpp"
#include "tessera/cpu/batch.hpp"
#include "workspace.hpp"

namespace tessera::cpu {

namespace {

/// Parts are at least so deep that adding their sums costs nothing beside them, at most so many
/// that threads have enough of them, and their sums together take at most so many elements.
constexpr index_t kLeastDepth = 512, kMostParts = 64, kMostSums = index_t{1} << 24;

}  // namespace

index_t split_k_depth(index_t M, index_t N, index_t K) {
  const index_t room = kMostSums / std::max<index_t>(1, M) / std::max<index_t>(1, N);
  const index_t parts =
      std::clamp<index_t>(K / kLeastDepth, 1, std::clamp<index_t>(room, 1, kMostParts));
  const index_t even = (K + parts - 1) / parts;
  return (even + 63) / 64 * 64;
}

template <class In, class Out>
void gemm_split_k(const Gemm<In, Out>& call) {
  using Sum = typename Gemm<In, Out>::Sum;
  const index_t depth = split_k_depth(call.M, call.N, call.K);
  if (call.M <= 0 || call.N <= 0 || call.K <= depth || call.alpha == 0) return gemm(call);
  const index_t parts = (call.K + depth - 1) / depth, size = call.M * call.N;
  Workspace workspace(static_cast<std::size_t>(parts * size) * sizeof(Sum));
  if (!workspace)
    throw Error(Category::resource, cat("split K: no memory for the sums of ", parts, " parts"));
  Sum* const sums = workspace.take<Sum>(0);
  std::vector<Gemm<In, Sum>> calls(static_cast<std::size_t>(parts));
  for (index_t p = 0; p < parts; ++p) {
    Gemm<In, Sum>& part = calls[static_cast<std::size_t>(p)];
    part.M = call.M, part.N = call.N, part.K = std::min(depth, call.K - p * depth);
    part.A = call.A + p * depth * call.a_col, part.a_row = call.a_row, part.a_col = call.a_col;
    part.B = call.B + p * depth * call.b_row, part.b_row = call.b_row, part.b_col = call.b_col;
    part.C = sums + p * size, part.c_row = call.N;
    part.threads = call.threads;
  }
  gemm_batch(calls.data(), parts);
  const EpilogueScalars<Sum> scalars{call.alpha, call.beta, call.last};
  parallel_for(call.M, call.threads, [&](index_t i) {
    for (index_t j = 0; j < call.N; ++j) {
      Sum sum = sums[i * call.N + j];
      for (index_t p = 1; p < parts; ++p) sum = fma(Sum{1}, sums[p * size + i * call.N + j], sum);
      Out& target = call.C[i * call.c_row + j * call.c_col];
      const Sum* bias = call.row_bias != nullptr      ? call.row_bias + i
                        : call.column_bias != nullptr ? call.column_bias + j
                                                      : nullptr;
      target = convert<Out>(finish(
          scalars, sum, [&] { return target; }, bias));
    }
  });
}

template void gemm_split_k(const Gemm<double>&);
template void gemm_split_k(const Gemm<float>&);
template void gemm_split_k(const Gemm<f16>&);
template void gemm_split_k(const Gemm<f16, float>&);
template void gemm_split_k(const Gemm<bf16>&);
template void gemm_split_k(const Gemm<bf16, float>&);
template void gemm_split_k(const Gemm<std::int8_t, std::int32_t>&);
template void gemm_split_k(const Gemm<std::uint8_t, std::int32_t>&);

}  // namespace tessera::cpu
