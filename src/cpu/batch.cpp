// Many products in one call: small ones are shared out in pieces among the threads, each whole to
// one thread, so that its bits are those of a call of its own; few large ones run one after the
// other with all threads.
#include "tessera/cpu/batch.hpp"

#include <algorithm>
#include <atomic>

#include "tessera/core/parallel.hpp"
#include "tessera/core/team.hpp"

namespace tessera::cpu {

namespace {

/// Runs the products that `product(i)` describes. `us`: time of all on one thread, roughly.
template <class Product>
void run_batch(index_t count, int threads, double us, const Product& product) {
  if (threads <= 0) threads = default_threads();
  if (count < 2 * threads) {  // too few to share out: one after the other, by all threads
    for (index_t i = 0; i < count; ++i) {
      auto call = product(i);
      call.threads = threads;
      gemm(call);
    }
    return;
  }
  // Small pieces for balance, but so large that taking one costs nothing beside it.
  const double each_us = us / static_cast<double>(count);
  const index_t enough = static_cast<index_t>(5 / std::max(each_us, 0.01)) + 1;
  const index_t piece = std::clamp<index_t>(count / (8 * threads), 1, enough);
  std::atomic<index_t> next{0};
  run_team(threads, us, [&](int) {
    for (index_t i; (i = next.fetch_add(piece, std::memory_order_relaxed)) < count;) {
      for (const index_t end = std::min(count, i + piece); i < end; ++i) {
        auto call = product(i);
        call.threads = 1;
        gemm(call);
      }
    }
  });
}

/// Microseconds of one product on one thread, roughly: 50 GFLOP/s and 0.02 us for the call.
template <class In, class Out>
double microseconds(const Gemm<In, Out>& call) {
  return 0.02 + 2e-3 * static_cast<double>(call.M) * static_cast<double>(call.N) *
                    static_cast<double>(call.K) / 50;
}

}  // namespace

template <class In, class Out>
void gemm_strided(const Gemm<In, Out>& first, index_t count, const BatchSteps& steps) {
  if (count <= 0) return;
  run_batch(count, first.threads, static_cast<double>(count) * microseconds(first), [&](index_t i) {
    Gemm<In, Out> call = first;
    call.A += i * steps.a;
    call.B += i * steps.b;
    call.C += i * steps.c;
    return call;
  });
}

template <class In, class Out>
void gemm_batch(const Gemm<In, Out>* calls, index_t count) {
  if (count <= 0) return;
  double us = 0;
  for (index_t i = 0; i < count; ++i) us += microseconds(calls[i]);
  run_batch(count, calls->threads, us, [&](index_t i) { return calls[i]; });
}

template void gemm_strided(const Gemm<double, double>&, index_t, const BatchSteps&);
template void gemm_strided(const Gemm<float, float>&, index_t, const BatchSteps&);
template void gemm_strided(const Gemm<f16, f16>&, index_t, const BatchSteps&);
template void gemm_strided(const Gemm<f16, float>&, index_t, const BatchSteps&);
template void gemm_strided(const Gemm<bf16, bf16>&, index_t, const BatchSteps&);
template void gemm_strided(const Gemm<bf16, float>&, index_t, const BatchSteps&);
template void gemm_strided(const Gemm<std::int8_t, std::int32_t>&, index_t, const BatchSteps&);
template void gemm_strided(const Gemm<std::uint8_t, std::int32_t>&, index_t, const BatchSteps&);
template void gemm_batch(const Gemm<double, double>*, index_t);
template void gemm_batch(const Gemm<float, float>*, index_t);
template void gemm_batch(const Gemm<f16, f16>*, index_t);
template void gemm_batch(const Gemm<f16, float>*, index_t);
template void gemm_batch(const Gemm<bf16, bf16>*, index_t);
template void gemm_batch(const Gemm<bf16, float>*, index_t);
template void gemm_batch(const Gemm<std::int8_t, std::int32_t>*, index_t);
template void gemm_batch(const Gemm<std::uint8_t, std::int32_t>*, index_t);

}  // namespace tessera::cpu
