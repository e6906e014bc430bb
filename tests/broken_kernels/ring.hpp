// A product by a ring of stages: one thread starts bulk copies, two warpgroups multiply what comes,
// and store their sums in bulk. Each Flaw is one word that is left out or wrong. Lines that
// findings name end with "// at" and a name.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

#include "tessera/check/check.hpp"
#include "tessera/core/error.hpp"
#include "tessera/ops/bulk_matrix.hpp"
#include "tessera/ops/warpgroup.hpp"
#include "tessera/simt/shared.hpp"
#include "tessera/tensor/tensor.hpp"

namespace tessera::broken {

inline constexpr std::string_view kRingFile = __FILE__;

enum class Flaw {
  none,
  no_full_wait,
  full_wait_behind_mma,
  no_full_wait_of_b,
  parity_constant,
  reader_stays,
  loader_stays,
  phase_apart,
  no_free_wait,
  arrive_before_wait_mma,
  arrive_at_other_stage,
  no_fence,
  fence_behind_barrier,
  no_wait_mma,
  never_waits_mma,
  meets_too_late,
  mma_without_fence,
  warp_leaves_early,
  expects_clipped,
  copy_forgotten,
  arrive_per_warp,
  free_count_too_small,
  free_count_too_large,
  no_barrier_behind_open,
  no_publish,
  no_commit,
  no_last_commit,
  no_wait_bulk_read,
  no_wait_bulk,
  reads_stored,
  no_expect,
  copy_within_chunk,
  store_within_chunk
};

/// The asynchronous words of a thread that begins its products without a fence.
struct AsyncWithoutFence : CpuAsync {
  using CpuAsync::CpuAsync;
  void begin_units(Here) const {}
};
template <class Thread>
struct ThreadWithoutFence : Thread {
  explicit ThreadWithoutFence(const Thread& t) : Thread(t) {}
  auto async() { return Thread::template async<AsyncWithoutFence>(); }
};

/// C (M,16) = A (M,K) * B (16,K)^T, M up to 128.
struct Ring {
  static constexpr const char* name = "ring";
  static constexpr Dim3 block{2 * kWarpgroupThreads + kWarpSize};
  static constexpr int M = 128, N = 16, depth = 16, stages = 2;
  using TileA = UnitTile<bf16, row_major(M, depth), SwizzleMode::bytes_32>;
  using TileB = UnitTile<bf16, row_major(N, depth), SwizzleMode::bytes_32>;
  using Slice = UnitTile<float, row_major(64, 8), SwizzleMode::bytes_32>;
  using Unit = WarpgroupUnit<float, bf16, bf16, 64, N>;
  struct Shared {
    TileA a[stages];
    TileB b[stages];
    Slice slices[2];
    Gate full[stages], full_b[stages], free[stages];
  };
  Flaw flaw = Flaw::none;

  bool is(Flaw which) const { return flaw == which; }

  void operator()(auto t, const BulkMatrix<TileA>& gA, const BulkMatrix<TileB>& gB,
                  const BulkMatrix<Slice>& slices, auto C) const {
    auto& s = shared<Shared>(t);
    const int readers = is(Flaw::free_count_too_small) ? 1 : is(Flaw::free_count_too_large) ? 3 : 2;
    if (t.thread == 0) {
      for (int i = 0; i < stages; ++i) {
        open_gate(t, s.full[i], 1);  // at open
        open_gate(t, s.full_b[i], 1);
        open_gate(t, s.free[i], readers);  // at open_free
      }
      if (!is(Flaw::no_publish)) publish_gates(t);
    }
    if (!is(Flaw::no_barrier_behind_open)) t.barrier();
    else if (t.thread != 0) t.warp_barrier();
    if (t.warpgroup() == 2) load(t, s, gA, gB);
    else multiply(t, s, gA, slices, C);
  }

 private:
  void load(auto t, auto& s, const auto& gA, const auto& gB) const {
    if (t.lane != 0) return;
    Turn<stages> turn;
    for (int k = 0; k < tiles<1>(gA, depth); ++k) {
      if (!is(Flaw::no_free_wait)) wait(t, s.free[turn.stage], turn.before());  // at free_wait
      const int rows = is(Flaw::expects_clipped) ? gA.rows : M;
      if (!is(Flaw::no_expect)) expect(t, s.full[turn.stage], rows * depth * 2);  // at expect
      expect(t, s.full_b[turn.stage], TileB::bytes);                              // at expect_b
      const int col = is(Flaw::copy_within_chunk) ? k * depth - 4 : k * depth;
      copy_bulk(t, tile_from(gA, 0, col), s.a[turn.stage], s.full[turn.stage]);  // at copy
      if (!is(Flaw::copy_forgotten))
        copy_bulk(t, tile<N, depth>(gB, 0, k), s.b[turn.stage], s.full_b[turn.stage]);  // at copy_b
      if (!is(Flaw::loader_stays)) turn.next();
    }
  }

  void multiply(auto t, auto& s, const auto& gA, const auto& slices, auto C) const {
    Turn<stages> turn;
    typename Unit::Fragment acc;
    const bool leads = t.thread % kWarpgroupThreads == 0;
    int before = 0;
    for (int k = 0; k < tiles<1>(gA, depth); ++k) {
      if (is(Flaw::warp_leaves_early) && k == 2 && t.warp == 3) return;
      const unsigned phase = is(Flaw::parity_constant) ? 0u
                             : is(Flaw::phase_apart)   ? static_cast<unsigned>(k % 2)
                                                       : turn.phase;
      if (!is(Flaw::no_full_wait) && !is(Flaw::full_wait_behind_mma))
        wait(t, s.full[turn.stage], phase);                                    // at full_wait
      if (!is(Flaw::no_full_wait_of_b)) wait(t, s.full_b[turn.stage], phase);  // at full_wait_b
      start(t, acc, s, turn.stage, k > 0);
      if (is(Flaw::full_wait_behind_mma)) wait(t, s.full[turn.stage], phase);
      if (is(Flaw::arrive_before_wait_mma)) {
        if (leads) arrive(t, s.free[turn.stage]);
        wait_mma<1>(t);
      } else {
        if (!is(Flaw::never_waits_mma)) wait_mma<1>(t);
        const bool is_other = is(Flaw::arrive_at_other_stage);
        const bool each = is(Flaw::arrive_per_warp) && t.lane == 0;
        if ((k > 0 || is_other) && (leads || each))
          arrive(t, s.free[is_other ? turn.stage : before]);  // at arrive
      }
      before = turn.stage;
      if (!is(Flaw::reader_stays)) turn.next();
    }
    if (!is(Flaw::no_wait_mma) && !is(Flaw::never_waits_mma)) wait_mma<0>(t);
    const int group = t.warpgroup();
    Slice& slice = s.slices[group];
    for (int part = 0; part < 2; ++part) {
      if (leads && part > 0 && !is(Flaw::no_wait_bulk_read)) wait_bulk_read<0>(t);
      meet_group(t);
      put(t, acc, part, slice);
      if (!is(Flaw::no_fence) && !is(Flaw::fence_behind_barrier)) fence_async(t);
      if (!is(Flaw::meets_too_late)) meet_group(t);
      if (is(Flaw::fence_behind_barrier)) fence_async(t);
      if (!leads) continue;
      const int col = is(Flaw::store_within_chunk) ? part * 8 - 2 : part * 8;
      store_bulk(t, slice, tile_from(slices, group * 64, col));  // at store
      if (!is(Flaw::no_commit) && !(is(Flaw::no_last_commit) && part == 1)) commit_bulk(t);
    }
    if (!leads) return;
    if (is(Flaw::reads_stored)) C(64 * group, 0) = C(64 * group, 0);  // at read
    if (!is(Flaw::no_wait_bulk)) wait_bulk<0>(t);
  }

  void start(auto t, auto& acc, auto& s, int stage, bool keep) const {
    const auto a = rows<64>(s.a[stage], t.warpgroup());
    const auto b = whole(s.b[stage]);
    if (!is(Flaw::mma_without_fence)) return Unit::mma(t, acc, a, b, keep);  // at product
    ThreadWithoutFence<decltype(t)> unfenced(t);
    Unit::mma(unfenced, acc, a, b, keep);  // at unfenced_product
  }

  static void meet_group(auto t) {
    if (t.warpgroup() == 0) meet<1>(t, kWarpgroupThreads);
    else meet<2>(t, kWarpgroupThreads);
  }

  /// Eight columns of the sums, as a thread has them.
  static void put(auto t, auto& acc, int part, Slice& slice) {
    auto to = slice.view();
    const int thread = t.thread % kWarpgroupThreads;
    const int row = thread / 32 * 16 + thread % 32 / 4, col = thread % 4 * 2;
    for (int v = 0; v < 4; ++v)
      to(row + v / 2 * 8, col + v % 2) = acc.value[0][part * 4 + v];  // at put
  }
};

/// A product by the ring, and what it leaves.
struct RingProduct {
  static constexpr int K = 6 * Ring::depth, N = Ring::N;
  alignas(64) bf16 a[Ring::M * K];
  alignas(64) bf16 b[N * K];
  alignas(64) float c[Ring::M * N];
  int rows;

  explicit RingProduct(int rows_) : rows(rows_) {
    for (int i = 0; i < Ring::M * K; ++i) a[i] = bf16(static_cast<float>(i * 7 % 13) - 6);
    for (int i = 0; i < N * K; ++i) b[i] = bf16(static_cast<float>(i * 5 % 11) - 5);
    std::fill(std::begin(c), std::end(c), NAN);
  }
  /// body(A, B, slices of C, C)
  template <class Body>
  auto with_operands(const Body& body) {
    const BulkMatrix<Ring::TileA> A{software_map(bulk_fields<Ring::TileA>(a, rows, K, K, 1)), rows,
                                    K};
    const BulkMatrix<Ring::TileB> B{software_map(bulk_fields<Ring::TileB>(b, N, K, K, 1)), N, K};
    const BulkMatrix<Ring::Slice> slices{software_map(bulk_fields<Ring::Slice>(c, rows, N, N, 1)),
                                         rows, N};
    return body(A, B, slices, tensor<kRowMajorMatrix>(static_cast<float*>(c), rows, N, N));
  }
  bool is_right() const {
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < N; ++j) {
        float sum = 0;
        for (int k = 0; k < K; ++k)
          sum += static_cast<float>(a[i * K + k]) * static_cast<float>(b[j * K + k]);
        if (c[i * N + j] != sum) return false;
      }
    }
    return true;
  }
};

inline check::Report checked_ring(Flaw flaw, const check::Options& options) {
  RingProduct product(flaw == Flaw::expects_clipped ? 100 : Ring::M);
  return product.with_operands(
      [&](const auto&... args) { return check::check(options, Dim3{1}, Ring{flaw}, args...); });
}

/// Does the ring give the right numbers with this order of threads?
inline bool is_ring_right(Flaw flaw, ThreadOrder order, std::uint64_t seed) {
  RingProduct product(Ring::M);
  try {
    product.with_operands([&](const auto&... args) {
      launch({.grid = {1}, .block = Ring::block, .order = order, .seed = seed}, Ring{flaw},
             args...);
    });
  } catch (const Error&) {
    return false;
  }
  return product.is_right();
}

}  // namespace tessera::broken
