// Split K as a batch of products into sums of their own, which are then added row by row.
#include "tessera/cpu/split_k.hpp"

#include <algorithm>
#include <array>

#include "tessera/core/parallel.hpp"
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

namespace {

/// Part p of K, into sums (M,N) behind those of the parts before.
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

/// Row i of C from the sums of all parts.
template <class In, class Out, class Sum>
void add_parts(const Gemm<In, Out>& call, index_t parts, const Sum* sums, index_t i) {
  const EpilogueScalars<Sum> scalars{call.alpha, call.beta, call.last};
  const index_t size = call.M * call.N;
  for (index_t j = 0; j < call.N; ++j) {
    Sum sum = sums[i * call.N + j];
    for (index_t p = 1; p < parts; ++p) sum = fma(Sum{1}, sums[p * size + i * call.N + j], sum);
    Out& target = call.C[i * call.c_row + j * call.c_col];
    target = convert<Out>(finish(
        scalars, sum, [&] { return target; }, call.bias.at(i, j)));
  }
}

/// The same sums for a few columns of one row at a time, which the stack has room for.
template <class In, class Out>
void split_without_memory(const Gemm<In, Out>& call, index_t depth, index_t parts) {
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
      add_parts(few, parts, sums, 0);
    }
  }
}

}  // namespace

template <class In, class Out>
void gemm_split_k(const Gemm<In, Out>& call) {
  using Sum = typename Gemm<In, Out>::Sum;
  const index_t depth = split_k_depth(call.M, call.N, call.K);
  if (call.M <= 0 || call.N <= 0 || call.K <= depth || call.alpha == 0) return gemm(call);
  const index_t parts = (call.K + depth - 1) / depth;
  Workspace workspace(static_cast<std::size_t>(parts * call.M * call.N) * sizeof(Sum));
  if (!workspace) return split_without_memory(call, depth, parts);
  Sum* const sums = workspace.take<Sum>(0);
  std::array<Gemm<In, Sum>, kMostParts> calls;
  for (index_t p = 0; p < parts; ++p)
    calls[static_cast<std::size_t>(p)] = part_of(call, depth, p, sums);
  gemm_batch(calls.data(), parts);
  parallel_for(call.M, call.threads, [&](index_t i) { add_parts(call, parts, sums, i); });
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
