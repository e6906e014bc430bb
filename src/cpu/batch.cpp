// Many products in one call; where all have the shape of the first, they share its GemmPlan.
#include "tessera/cpu/batch.hpp"

#include <algorithm>

#include "each_product.hpp"
#include "tessera/cpu/gemm_plan.hpp"

namespace tessera::cpu {

namespace {

/// Estimated nanoseconds of one product on one thread, at 128 GFLOP/s, plus the latency of its
/// chains and 20 ns for the call; at most a second, so that sums do not overflow.
template <class In, class Out>
std::int64_t nanoseconds(const Gemm<In, Out>& call) {
  return std::min<std::int64_t>(
      1'000'000'000, 20 + std::max(call.K, bounded_product(call.M, call.N, call.K) / 64));
}

}  // namespace

template <class In, class Out>
void gemm_strided(const Gemm<In, Out>& first, index_t count, const BatchSteps& steps) {
  if (count <= 0 || first.M <= 0 || first.N <= 0) return;
  const std::int64_t ns = bounded_product(count, nanoseconds(first), 1);
  run_products(count, ns, first.threads, [&](int threads) {
    Gemm<In, Out> call = first;
    call.threads = threads;
    return [&first, &steps, plan = GemmPlan<In, Out>(call)](index_t i) {
      plan(first.A + i * steps.a, first.B + i * steps.b, first.C + i * steps.c);
    };
  });
}

template <class In, class Out>
void gemm_batch(const Gemm<In, Out>* calls, index_t count) {
  if (count <= 0) return;
  std::int64_t ns = 0;
  for (index_t i = 0; i < count; ++i) ns += nanoseconds(calls[i]);
  run_products(count, ns, calls->threads, [&](int threads) {
    return [calls, threads](index_t i) {
      Gemm<In, Out> call = calls[i];
      call.threads = threads;
      gemm(call);
    };
  });
}

#define TESSERA_INSTANTIATE_PRODUCT(In, Out)                                    \
  template void gemm_strided(const Gemm<In, Out>&, index_t, const BatchSteps&); \
  template void gemm_batch(const Gemm<In, Out>*, index_t);
#include "base/products.inc"
TESSERA_EACH_MIXED_PRODUCT(TESSERA_INSTANTIATE_PRODUCT)
#undef TESSERA_INSTANTIATE_PRODUCT

}  // namespace tessera::cpu
