// How fast this core multiplies: times a microkernel whose operands are in registers and L1. Some
// processors execute one 512-bit multiply-add per cycle, others two, and no feature bit says which.
// Takes the best of several times: at first the wide units may be powered down, or the core shared.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "choose_kernels.hpp"
#include "epilogue.hpp"
#include "expected_time.hpp"
#include "one_panel.hpp"

namespace tessera::cpu {

namespace {

constexpr int kCalls = 8, kTimes = 3;
constexpr int kLeast = 16, kMost = 256;

}  // namespace

int measured_vectors_in_16_ns() {
  constexpr index_t deep = 64;
  const KernelsF32& kernels = plain_kernels<float>();
  const float a[1] = {};
  alignas(64) float b[kMostColumns] = {}, c[KernelsF32::kMaxRows * kMostColumns];
  const auto tile = no_prefetch_tile<float>(deep, a, 0, 0, b, 0, c, kMostColumns, kernels.nr());
  const auto micro = kernels.no_prefetch[0][kernels.rows - 1][kernels.vectors - 1];
  // Integer-valued operands, so that no floating-point flag is raised.
  using std::chrono::nanoseconds;
  using Clock = std::chrono::steady_clock;
  std::int64_t best = 1'000'000'000;
  for (int i = 0; i < kTimes; ++i) {
    const auto start = Clock::now();
    micro(tile);
    const auto spent = std::chrono::duration_cast<nanoseconds>(Clock::now() - start);
    best = std::clamp<std::int64_t>(spent.count(), 1, best);
  }
  const std::int64_t vectors = deep * kernels.rows * kernels.vectors;
  return static_cast<int>(std::min<std::int64_t>(16 * vectors / best, kMost));
}

int vectors_in_16_ns() {
  static std::atomic<int> known{kLeast}, calls{0};
  if (calls.load(std::memory_order_relaxed) < kCalls) {
    calls.fetch_add(1, std::memory_order_relaxed);
    const int seen = measured_vectors_in_16_ns();
    int before = known.load(std::memory_order_relaxed);
    while (before < seen && !known.compare_exchange_weak(before, seen, std::memory_order_relaxed)) {
    }
  }
  return known.load(std::memory_order_relaxed);
}

}  // namespace tessera::cpu
