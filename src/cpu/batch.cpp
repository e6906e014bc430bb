// Many products in one call: small ones are shared out in pieces among the threads, each whole to
// one thread, so that its bits are those of a call of its own; few large ones run one after the
// other with all threads.
#include "tessera/cpu/batch.hpp"

#include <algorithm>
#include <atomic>

#include "tessera/core/parallel.hpp"
#include "tessera/core/team.hpp"
#include "tessera/cpu/gemm_plan.hpp"

namespace tessera::cpu {

namespace {

/// multiply_on(threads)(i) runs product i. `ns`: time of all on one thread, roughly.
template <class MultiplyOn>
void run_batch(index_t count, int threads, std::int64_t ns, const MultiplyOn& multiply_on) {
  if (threads <= 0) threads = default_threads();
  if (count < 2 * threads) {  // too few to share out: one after the other, by all threads
    const auto multiply = multiply_on(threads);
    for (index_t i = 0; i < count; ++i) multiply(i);
    return;
  }
  // Small pieces for balance, but so large that taking one costs nothing beside it.
  const index_t enough = 5000 / std::max<index_t>(ns / count, 10) + 1;
  const index_t piece = std::clamp<index_t>(count / (8 * threads), 1, enough);
  std::atomic<index_t> next{0};
  const auto multiply = multiply_on(1);
  run_team(threads, ns, [&](int) {
    for (index_t i; (i = next.fetch_add(piece, std::memory_order_relaxed)) < count;) {
      for (const index_t end = std::min(count, i + piece); i < end; ++i) multiply(i);
    }
  });
}

/// Nanoseconds of one product on one thread, roughly: 128 GFLOP/s, a step of a sum each, and 20 ns
/// for the call; at most a second, so that they can be added up.
template <class In, class Out>
std::int64_t nanoseconds(const Gemm<In, Out>& call) {
  return std::min<std::int64_t>(
      1'000'000'000, 20 + std::max(call.K, bounded_product(call.M, call.N, call.K) / 64));
}

}  // namespace

template <class In, class Out>
void gemm_strided(const Gemm<In, Out>& first, index_t count, const BatchSteps& steps) {
  if (count <= 0 || first.M <= 0 || first.N <= 0) return;
  run_batch(count, first.threads, bounded_product(count, nanoseconds(first), 1), [&](int threads) {
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
  run_batch(count, calls->threads, ns, [&](int threads) {
    return [calls, threads](index_t i) {
      Gemm<In, Out> call = calls[i];
      call.threads = threads;
      gemm(call);
    };
  });
}

template void gemm_strided(const Gemm<double, double>&, index_t, const BatchSteps&);
template void gemm_strided(const Gemm<float, float>&, index_t, const BatchSteps&);
template void gemm_strided(const Gemm<float, f16>&, index_t, const BatchSteps&);
template void gemm_strided(const Gemm<float, bf16>&, index_t, const BatchSteps&);
template void gemm_strided(const Gemm<f16, f16>&, index_t, const BatchSteps&);
template void gemm_strided(const Gemm<f16, float>&, index_t, const BatchSteps&);
template void gemm_strided(const Gemm<bf16, bf16>&, index_t, const BatchSteps&);
template void gemm_strided(const Gemm<bf16, float>&, index_t, const BatchSteps&);
template void gemm_strided(const Gemm<std::int8_t, std::int32_t>&, index_t, const BatchSteps&);
template void gemm_strided(const Gemm<std::int8_t, float>&, index_t, const BatchSteps&);
template void gemm_strided(const Gemm<std::uint8_t, std::int32_t>&, index_t, const BatchSteps&);
template void gemm_strided(const Gemm<std::uint8_t, float>&, index_t, const BatchSteps&);
template void gemm_strided(const Gemm<U8I8, std::int32_t>&, index_t, const BatchSteps&);
template void gemm_strided(const Gemm<U8I8, float>&, index_t, const BatchSteps&);
template void gemm_strided(const Gemm<I8U8, std::int32_t>&, index_t, const BatchSteps&);
template void gemm_strided(const Gemm<I8U8, float>&, index_t, const BatchSteps&);
template void gemm_batch(const Gemm<double, double>*, index_t);
template void gemm_batch(const Gemm<float, float>*, index_t);
template void gemm_batch(const Gemm<float, f16>*, index_t);
template void gemm_batch(const Gemm<float, bf16>*, index_t);
template void gemm_batch(const Gemm<f16, f16>*, index_t);
template void gemm_batch(const Gemm<f16, float>*, index_t);
template void gemm_batch(const Gemm<bf16, bf16>*, index_t);
template void gemm_batch(const Gemm<bf16, float>*, index_t);
template void gemm_batch(const Gemm<std::int8_t, std::int32_t>*, index_t);
template void gemm_batch(const Gemm<std::int8_t, float>*, index_t);
template void gemm_batch(const Gemm<std::uint8_t, std::int32_t>*, index_t);
template void gemm_batch(const Gemm<std::uint8_t, float>*, index_t);
template void gemm_batch(const Gemm<U8I8, std::int32_t>*, index_t);
template void gemm_batch(const Gemm<U8I8, float>*, index_t);
template void gemm_batch(const Gemm<I8U8, std::int32_t>*, index_t);
template void gemm_batch(const Gemm<I8U8, float>*, index_t);

}  // namespace tessera::cpu
