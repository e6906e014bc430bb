// Multiply-add chains: see peak.hpp. Each chain is one loop of assembly, so that it is the same in
// every build type and no compiler can fold, spill or reorder it. A round is two passes over all
// accumulators; 24 of them (12 with 16 registers) hide the latency of two units with four or five
// cycles each.
#include "peak.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "tessera/core/cpu.hpp"

namespace tessera::bench {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

/// 128 bytes of each type: two of the widest vectors.
struct ChainOperands {
  alignas(64) std::array<double, 16> f64{};
  alignas(64) std::array<float, 32> f32{};
  alignas(64) std::array<bf16, 64> bf{};
  alignas(64) std::array<std::int32_t, 32> i32{};
  alignas(64) std::array<bf16, 512> bf_tile{};  // a tile's 16 rows of 64 bytes
  alignas(64) std::array<std::int32_t, 256> i32_tile{};

  ChainOperands() {
    std::uint32_t state = 1;
    const auto next = [&state] {  // a linear congruence is random enough to flip the bits
      state = state * 1664525u + 1013904223u;
      return (static_cast<double>(state) / 4294967296.0 - 0.5) * 2e-3;
    };
    for (auto& x : f64) x = next();
    for (auto& x : f32) x = static_cast<float>(next());
    for (auto& x : bf) x = bf16(next());
    for (auto& x : i32) x = static_cast<std::int32_t>(next() * 1e9) | 1;
    for (auto& x : bf_tile) x = bf16(next());
    for (auto& x : i32_tile) x = static_cast<std::int32_t>(next() * 1e9) | 1;
  }
};

const ChainOperands& operands() {
  static const ChainOperands values;
  return values;
}

/// Multiply, then add, on 128-bit vectors: any CPU supports this.
template <class T>
void portable_chain(long rounds, const void* from) {
  typedef T Vector __attribute__((vector_size(16)));
  Vector x, y;
  std::memcpy(&x, from, sizeof x);
  std::memcpy(&y, static_cast<const char*>(from) + 64, sizeof y);
  Vector acc[12] = {};
  for (long round = 0; round < rounds; ++round) {
    for (int pass = 0; pass < 2; ++pass) {
#pragma GCC unroll 12
      for (auto& each : acc) each = each * x + y;
    }
  }
  volatile T keep = 0;
  for (const auto& each : acc) keep = keep + each[0];
}

template <class T>
PeakChain portable(std::string instructions, const void* values) {
  constexpr int lanes = 16 / static_cast<int>(sizeof(T));
  return {std::move(instructions), 2 * 12 * lanes * 2, portable_chain<T>, values};
}

#if defined(__x86_64__)

#define TESSERA_CHAIN_REGISTERS                                                                   \
  "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", \
      "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"

// `step` is one accumulator's instruction; \r (spelt \\r) is its number.
#define TESSERA_CHAIN_512(name, step)                                                             \
  __attribute__((target("avx512f"))) void name(long rounds, const void* from) {                   \
    asm volatile(                                                                                 \
        "vzeroall\n vmovups (%1), %%zmm30\n vmovups 64(%1), %%zmm31\n"                            \
        ".irp r,16,17,18,19,20,21,22,23\n vpxord %%zmm\\r,%%zmm\\r,%%zmm\\r\n .endr\n"            \
        "1:\n"                                                                                    \
        ".rept 2\n"                                                                               \
        ".irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23\n" step             \
        "\n .endr\n .endr\n"                                                                      \
        "dec %0\n jnz 1b\n vzeroupper\n"                                                          \
        : "+r"(rounds)                                                                            \
        : "r"(from)                                                                               \
        : TESSERA_CHAIN_REGISTERS, "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", \
          "xmm23", "xmm30", "xmm31");                                                             \
  }

#define TESSERA_CHAIN_256(name, step)                                            \
  __attribute__((target("avx2,fma"))) void name(long rounds, const void* from) { \
    asm volatile(                                                                \
        "vzeroall\n vmovups (%1), %%ymm14\n vmovups 64(%1), %%ymm15\n"           \
        "1:\n .rept 2\n .irp r,0,1,2,3,4,5,6,7,8,9,10,11\n" step                 \
        "\n .endr\n .endr\n"                                                     \
        "dec %0\n jnz 1b\n vzeroupper\n"                                         \
        : "+r"(rounds)                                                           \
        : "r"(from)                                                              \
        : TESSERA_CHAIN_REGISTERS);                                              \
  }

TESSERA_CHAIN_512(f64_512, "vfmadd231pd %%zmm31,%%zmm30,%%zmm\\r")
TESSERA_CHAIN_512(f32_512, "vfmadd231ps %%zmm31,%%zmm30,%%zmm\\r")
TESSERA_CHAIN_512(bf16_512, "vdpbf16ps %%zmm31,%%zmm30,%%zmm\\r")
TESSERA_CHAIN_512(i8_512, "vpdpbusd %%zmm31,%%zmm30,%%zmm\\r")
TESSERA_CHAIN_512(i32_512, "vpmulld %%zmm30,%%zmm\\r,%%zmm\\r\n vpaddd %%zmm31,%%zmm\\r,%%zmm\\r")
TESSERA_CHAIN_256(f64_256, "vfmadd231pd %%ymm15,%%ymm14,%%ymm\\r")
TESSERA_CHAIN_256(f32_256, "vfmadd231ps %%ymm15,%%ymm14,%%ymm\\r")
TESSERA_CHAIN_256(i32_256, "vpmulld %%ymm14,%%ymm\\r,%%ymm\\r\n vpaddd %%ymm15,%%ymm\\r,%%ymm\\r")

// Four tiles of sums hide the latency of a tile unit, 52 cycles for 16 of work (Intel 64 and IA-32
// Optimization Reference Manual, 20.2); a round is two passes over them.
#define TESSERA_CHAIN_TILES(name, dot)                                            \
  void name(long rounds, const void* from) {                                      \
    struct alignas(64) {                                                          \
      std::uint8_t palette = 1, start_row = 0, reserved[14] = {};                 \
      std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64};                     \
      std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16};                           \
    } config;                                                                     \
    const long row = 64;                                                          \
    asm volatile(                                                                 \
        "ldtilecfg %3\n tileloadd (%1,%2), %%tmm4\n tileloadd (%1,%2), %%tmm5\n"  \
        "tilezero %%tmm0\n tilezero %%tmm1\n tilezero %%tmm2\n tilezero %%tmm3\n" \
        "1:\n .rept 2\n .irp r,0,1,2,3\n" dot                                     \
        " %%tmm5, %%tmm4, %%tmm\\r\n .endr\n .endr\n"                             \
        "dec %0\n jnz 1b\n tilerelease\n"                                         \
        : "+r"(rounds)                                                            \
        : "r"(from), "r"(row), "m"(config)                                        \
        : "memory", "cc");                                                        \
  }
TESSERA_CHAIN_TILES(bf16_tiles, "tdpbf16ps")
TESSERA_CHAIN_TILES(i8_tiles, "tdpbssd")

#undef TESSERA_CHAIN_TILES
#undef TESSERA_CHAIN_256
#undef TESSERA_CHAIN_512
#undef TESSERA_CHAIN_REGISTERS

constexpr int chain_operations(int accumulators, int lanes) { return 2 * accumulators * lanes * 2; }

#endif

}  // namespace

PeakChain peak_chain(DType type) {
  const ChainOperands& values = operands();
#if defined(__x86_64__)
  const bool wide = __builtin_cpu_supports("avx512f") != 0;
  const bool avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  const bool bytes_type = type == DType::i8 || type == DType::u8;
  const CpuFeatures features = cpu_features();
  constexpr int tile_words = 16 * 16 * 16;
  if (type == DType::bf16 && features.amx_bf16)
    return {"AMX tdpbf16ps", chain_operations(4, 2 * tile_words), bf16_tiles,
            values.bf_tile.data()};
  if (bytes_type && features.amx_int8)
    return {"AMX tdpbssd", chain_operations(4, 4 * tile_words), i8_tiles, values.i32_tile.data()};
  if (type == DType::bf16 && wide && __builtin_cpu_supports("avx512bf16") != 0)
    return {"AVX-512 vdpbf16ps", chain_operations(24, 32), bf16_512, values.bf.data()};
  if (bytes_type && wide && __builtin_cpu_supports("avx512vnni") != 0)
    return {"AVX-512 vpdpbusd", chain_operations(24, 64), i8_512, values.i32.data()};
  if (wide || avx2) {
    const std::string set = wide ? "AVX-512 " : "AVX2 ";
    const int accumulators = wide ? 24 : 12;
    const int bytes = wide ? 64 : 32;
    if (type == DType::f64)
      return {set + "vfmadd231pd", chain_operations(accumulators, bytes / 8),
              wide ? f64_512 : f64_256, values.f64.data()};
    if (type == DType::i32 || bytes_type)
      return {set + "vpmulld, vpaddd", chain_operations(accumulators, bytes / 4),
              wide ? i32_512 : i32_256, values.i32.data()};
    return {set + "vfmadd231ps", chain_operations(accumulators, bytes / 4),
            wide ? f32_512 : f32_256, values.f32.data()};
  }
#endif
  if (type == DType::f64)
    return portable<double>("128-bit multiply and add, f64", values.f64.data());
  if (type == DType::i32)
    return portable<std::uint32_t>("128-bit multiply and add, i32", values.i32.data());
  return portable<float>("128-bit multiply and add, f32", values.f32.data());
}

struct PeakMeter::State {
  struct Lane {
    Clock::time_point begin, end;
  };
  PeakChain chain;
  std::vector<Lane> lanes;
  std::vector<std::thread> helpers;
  std::mutex mutex;
  std::condition_variable wake;
  long burst = 0;   // index of the requested burst
  long rounds = 0;  // for that burst, on each thread
  bool stopping = false;
  std::atomic<int> ready{0}, finished{0};

  /// Waits for all threads, so that the chains overlap, then runs this thread's chain.
  void run(std::size_t lane, long count) {
    ready.fetch_add(1);
    while (ready.load(std::memory_order_acquire) < static_cast<int>(lanes.size()))
      std::this_thread::yield();
    lanes[lane].begin = Clock::now();
    chain.run(count, chain.operands);
    lanes[lane].end = Clock::now();
    finished.fetch_add(1, std::memory_order_release);
  }

  void help(std::size_t lane) {
    long seen = 0;
    for (;;) {
      std::unique_lock lock(mutex);
      wake.wait(lock, [&] { return stopping || burst != seen; });
      if (stopping) return;
      seen = burst;
      const long count = rounds;
      lock.unlock();
      run(lane, count);
    }
  }

  double run_all(long count) {
    ready = 0;
    finished = 0;
    {
      const std::lock_guard lock(mutex);
      rounds = count;
      ++burst;
    }
    wake.notify_all();
    run(0, count);
    while (finished.load(std::memory_order_acquire) < static_cast<int>(lanes.size()))
      std::this_thread::yield();
    auto begin = lanes[0].begin, end = lanes[0].end;
    for (const Lane& lane : lanes) {
      begin = std::min(begin, lane.begin);
      end = std::max(end, lane.end);
    }
    return std::max(1e-9, seconds_between(begin, end));
  }

  /// Seconds of the thread with the shortest run.
  double fastest_lane() const {
    double out = HUGE_VAL;
    for (const Lane& lane : lanes) out = std::min(out, seconds_between(lane.begin, lane.end));
    return std::max(1e-9, out);
  }
};

PeakMeter::PeakMeter(const PeakChain& chain, int threads) : state_(std::make_unique<State>()) {
  state_->chain = chain;
  state_->lanes.resize(static_cast<std::size_t>(std::max(1, threads)));
  for (std::size_t lane = 1; lane < state_->lanes.size(); ++lane)
    state_->helpers.emplace_back([state = state_.get(), lane] { state->help(lane); });
}

PeakMeter::~PeakMeter() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->wake.notify_all();
  for (auto& helper : state_->helpers) helper.join();
}

PeakMeter::Burst PeakMeter::burst(double seconds) {
  // First measures the length of a round on all threads, since the clock may have changed. The
  // fastest thread of all trials counts: if another program interrupted one or delayed its start,
  // the burst would be far too short.
  constexpr long kTrial = 2000;
  constexpr int kTrials = 5;
  double trial = HUGE_VAL;
  for (int i = 0; i < kTrials; ++i) {
    state_->run_all(kTrial);
    trial = std::min(trial, state_->fastest_lane());
  }
  const double wanted = seconds / trial * static_cast<double>(kTrial);
  const long rounds = std::lround(std::clamp(wanted, static_cast<double>(kTrial), 1e12));
  const double taken = state_->run_all(rounds);
  const auto threads = static_cast<double>(state_->lanes.size());
  return {static_cast<double>(rounds) * state_->chain.operations * threads, taken};
}

}  // namespace tessera::bench
