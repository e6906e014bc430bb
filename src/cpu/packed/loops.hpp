// The five loops around the microkernel, with the numbers of BLIS (Van Zee and van de Geijn, ACM
// TOMS 41(3), 2015): 5, blocks of C; 4, KC blocks; 3, blocks of rows of A, in tasks that threads
// share; 2, panels of B; 1, register tiles. Part of product.hpp, which includes it.
// Measurements: bench/results/cpu/tuning.md.
#pragma once

#include "product.hpp"

namespace tessera::cpu {

/// False where there is no memory for packing.
template <class In, class Out, class Table>
inline bool Product<In, Out, Table>::run() {
  const PackedWorkspace& needs = plan_.workspace;
  if (needs.total == 0) {
    run_blocks_of_c();
    return true;
  }
  Workspace workspace(needs.total);
  if (!workspace) return false;
  a_kc_block_ = workspace.take<KGroup>(needs.a_kc_block);
  b_kc_block_ = workspace.take<KGroup>(needs.b_kc_block);
  sums_ = workspace.take<Sum>(needs.sums);
  a_states_ = workspace.take<State>(needs.states);
  b_states_ = a_states_ + needs.a_shares;
  const index_t shares = needs.a_shares + needs.b_shares;
  for (index_t i = 0; i < shares; ++i) a_states_[i].store(0, std::memory_order_relaxed);
  own_step_ = static_cast<index_t>((needs.a_own + needs.b_own) / sizeof(KGroup));
  a_own_ = workspace.take<KGroup>(needs.a_own);
  b_own_ = a_own_ + needs.a_own / sizeof(KGroup);
  run_blocks_of_c();
  return true;
}

/// The next task of a KC block for a worker: first those of its own range, then the remaining ones
/// of others; -1: none is left.
template <class In, class Out, class Table>
inline index_t Product<In, Out, Table>::take(int worker, index_t kc_block) {
  for (int n = 0; n < ranges_; ++n) {
    const int range = (worker + n) % ranges_;
    const index_t first = range * tasks_ / ranges_, count = (range + 1) * tasks_ / ranges_ - first;
    std::atomic<index_t>& next = next_[range].task;  // continues across KC blocks
    index_t at = next.load(std::memory_order_relaxed);
    while (at < (kc_block + 1) * count) {
      if (next.compare_exchange_weak(at, at + 1, std::memory_order_relaxed))
        return first + at - kc_block * count;
    }
  }
  return -1;
}

/// Loop 5: blocks of C, of which all threads compute one at a time.
template <class In, class Out, class Table>
inline void Product<In, Out, Table>::run_blocks_of_c() {
  for (i0_ = 0; i0_ < call_.M; i0_ += kBlockOfC) {
    for (j0_ = 0; j0_ < call_.N; j0_ += plan_.most_cols) {
      rows_ = std::min(kBlockOfC, call_.M - i0_);
      cols_ = std::min(plan_.most_cols, call_.N - j0_);
      down_ = ceil_div(rows_, plan_.blocks.mc), across_ = ceil_div(cols_, plan_.blocks.nc);
      evens_out_ = down_ > index_t{3} * call_.threads;
      if (evens_out_ && across_ % call_.threads != 0)
        down_ = std::min(round_up(down_, call_.threads), ceil_div(rows_, plan_.mr));
      tasks_ = down_ * across_;
      ranges_ = plan_.shares_a()
                    ? 1
                    : static_cast<int>(std::min<index_t>({call_.threads, tasks_, kMostRanges}));
      for (int n = 0; n < ranges_; ++n) next_[n].task.store(0, std::memory_order_relaxed);
      done_.store(0, std::memory_order_relaxed);
      run_team(static_cast<int>(std::min<index_t>(call_.threads, tasks_)),
               expected_ns<In, Out>(rows_, cols_, call_.K, kernels_), [this](int worker) {
                 work(worker);
                 // Non-temporal stores are weakly ordered: a fence must precede the signal that C
                 // is complete (Intel SDM vol. 3, 12.3.1).
                 if (plan_.streams_c) done_.fetch_add(0, std::memory_order_seq_cst);
               });
      ++blocks_of_c_done_;
    }
  }
}

/// Loop 4: KC blocks, whose sums follow one another in order of k, and the tasks of each.
template <class In, class Out, class Table>
inline void Product<In, Out, Table>::work(int worker) {
  if (!plan_.shares_a() &&
      !plan_.shares_b()) {  // tasks are independent: each computes all KC blocks
    for (index_t task; (task = take(worker, 0)) >= 0;) {
      for (index_t kc_block = 0; kc_block < plan_.kc_blocks; ++kc_block)
        run_task(worker, kc_block, task);
    }
    return;
  }
  for (index_t kc_block = 0; kc_block < plan_.kc_blocks; ++kc_block) {
    wait_for_team([&] { return done_.load(std::memory_order_acquire) >= kc_block * tasks_; });
    for (index_t task; (task = take(worker, kc_block)) >= 0;) {
      run_task(worker, kc_block, task);
      done_.fetch_add(1, std::memory_order_release);
    }
  }
}

/// One KC block of one task: MC rows of A and NC columns of B.
template <class In, class Out, class Table>
inline void Product<In, Out, Table>::run_task(int worker, index_t kc_block, index_t task) {
  Part part;
  part.kc_block = kc_block;
  const index_t w0 = kc_block * plan_.blocks.kc;
  part.k_groups = std::min(plan_.blocks.kc, plan_.k_groups - w0);
  part.k0 = w0 * kernels_.group;
  part.k = std::min(part.k_groups * kernels_.group, call_.K - part.k0);
  const index_t at = task % down_;
  part.i = task_row(at);
  part.i_end = std::min(rows_, task_row(at + 1));
  part.j = task_column(task / down_);
  part.j_end = std::min(cols_, task_column(task / down_ + 1));
  const Prepared unit(kernels_);
  if (plan_.is_unpacked()) run_unpacked(worker, part);
  else if (plan_.blocks.stream == Stream::copied) run_streaming(worker, part);
  else run_packed(worker, part);
}

/// Loop 3: blocks of rows of A, which stay in L2 while the task's part of B is streamed from L3 or
/// L2. The first block packs B.
template <class In, class Out, class Table>
inline void Product<In, Out, Table>::run_packed(int worker, const Part& part) {
  const KGroup* shares[kMostShares];  // first columns of the shares of B
  const index_t count = ceil_div(part.j_end - part.j, plan_.share_columns);
  index_t i = part.i;
  if (plan_.packs_b()) i = run_first_block(worker, part, shares);
  else find_b(part, shares);
  for (index_t i_end; i < part.i_end; i = i_end) {
    i_end = std::min(part.i_end, i + plan_.block_rows);
    const Block block = block_of_a(worker, part, i, i_end);
    if (part.k_groups < kPrefetchDepth) multiply_shallow(part, block, 0, count, shares);
    else
      for (index_t s = 0; s < count; ++s)
        multiply_share(part, block, s, shares[s], nullptr, s + 1 < count ? shares[s + 1] : nullptr);
  }
}

/// Loop 2: a block of A times a share of B, panel by panel, each in L1. Where `copy` is given, the
/// first rows read B unpacked and pack it there for the others.
template <class In, class Out, class Table>
inline void Product<In, Out, Table>::multiply_share(const Part& part, const Block& block, index_t s,
                                                    const KGroup* b, KGroup* copy,
                                                    const KGroup* next_share) {
  if (copy == nullptr && part.k_groups < kPrefetchDepth)
    return multiply_shallow(part, block, s, s + 1, &b);
  const index_t first = part.j + s * plan_.share_columns;
  const index_t end = std::min(part.j_end, first + plan_.share_columns);
  const index_t depth =
      plan_.reads_panels_of_b() ? part.k_groups + kernels_.b_extra : 1;  // of a column of B
  alignas(64) Sum temporary[Table::kMostRows * kMostColumns];
  Tiles tiles = tiles_of(part, block, copy != nullptr, temporary);
  int& cols = tiles.micro.cols;
  index_t at = 0;  // of the panel, packed before, or unpacked
  for (index_t j = first; j < end;
       j += cols, at += plan_.reads_panels_of_b() ? plan_.blocks.nr * depth : cols) {
    cols = panel_of(end - j);
    if (plan_.packs_b() && !plan_.keeps_b()) at = 0;
    tiles.micro.b = b + at;
    tiles.copy = copy != nullptr && kernels_.fills_vectors(cols) ? copy + at : nullptr;
    if (copy != nullptr && tiles.copy == nullptr) pack_panels_of_b(copy + at, part, j, j + cols);
    tiles.next_b = j + cols < end ? tiles.micro.b + plan_.blocks.nr * depth : next_share;
    multiply_panel(tiles, part, block, j);
  }
}

/// Loop 1: a block of A times one panel of B, register tile by register tile.
template <class In, class Out, class Table>
inline void Product<In, Out, Table>::multiply_panel(Tiles& tiles, const Part& part,
                                                    const Block& block, index_t j) {
  auto& micro = tiles.micro;
  for (index_t i = block.i; i < block.i_end; i += plan_.mr) {
    micro.rows = static_cast<int>(std::min<index_t>(plan_.mr, block.i_end - i));
    micro.a = block.a + (i - block.i) * tiles.a_step;
    if (block.shifts != nullptr) micro.shifts = block.shifts + (i - block.i);
    if (tiles.sums != nullptr) micro.c = tiles.sums + i * micro.c_row + j;
    prefetch(tiles, part, block, i, j);
    if (tiles.copy == nullptr || i > block.i) {
      multiply(micro, part, block.packed, i, j);
    } else {
      auto first_rows = micro;
      first_rows.b = in_k_groups(call_.B + part.k0 * call_.b_row + j0_ + j);
      first_rows.b_k = call_.b_row;
      first_rows.copy = tiles.copy, first_rows.copy_k = plan_.blocks.nr;
      multiply(first_rows, part, block.packed, i, j);
    }
  }
}

/// Loops 2 and 1 with so small a K that the operands stay in the caches and C is most of what is
/// read and written: where C is far, register tile by register tile along its rows, in the order of
/// memory.
template <class In, class Out, class Table>
inline void Product<In, Out, Table>::multiply_shallow(const Part& part, const Block& block,
                                                      index_t s, index_t s_end,
                                                      const KGroup* const* shares) const {
  alignas(64) Sum temporary[Table::kMostRows * kMostColumns];
  Tiles tiles = tiles_of(part, block, false, temporary);
  auto& micro = tiles.micro;
  const index_t depth = plan_.reads_panels_of_b() ? part.k_groups + kernels_.b_extra : 1;
  const bool prefetches_c = c_is_far() && ends_in_tile(part) && call_.beta != Scalar{0};
  const auto each_row = [&](const auto& body) {
    for (index_t i = block.i; i < block.i_end; i += plan_.mr) {
      micro.rows = static_cast<int>(std::min<index_t>(plan_.mr, block.i_end - i));
      micro.a = block.a + (i - block.i) * tiles.a_step;
      if (block.shifts != nullptr) micro.shifts = block.shifts + (i - block.i);
      body(i);
    }
  };
  const auto each_panel = [&](index_t n, index_t end, const auto& body) {
    for (; n < end; ++n) {
      const index_t first = part.j + n * plan_.share_columns;
      const index_t last = std::min(part.j_end, first + plan_.share_columns);
      micro.b = shares[n - s];
      for (index_t j = first; j < last; j += micro.cols) {
        micro.cols = panel_of(last - j);
        body(j);
        micro.b += plan_.reads_panels_of_b() ? plan_.blocks.nr * depth : micro.cols;
      }
    }
  };
  const auto multiply_tile = [&](index_t i, index_t j) {
    if (tiles.sums != nullptr) micro.c = tiles.sums + i * micro.c_row + j;
    if constexpr (std::is_same_v<Sum, Out>) {
      micro.next_c = prefetches_c && j + micro.cols < part.j_end
                         ? call_.C + (i0_ + i) * call_.c_row + j0_ + j + micro.cols
                         : nullptr;
    }
    multiply(micro, part, block.packed, i, j);
  };
  if (!c_is_far())
    return each_panel(s, s_end,
                      [&](index_t j) { each_row([&](index_t i) { multiply_tile(i, j); }); });
  const index_t share_bytes = plan_.share_columns * part.k_groups * index_t{sizeof(KGroup)};
  const index_t together = std::max<index_t>(1, caches().l2 / 2 / share_bytes);
  for (; s < s_end; s += together, shares += together) {
    each_row([&](index_t i) {
      each_panel(s, std::min(s_end, s + together), [&](index_t j) { multiply_tile(i, j); });
    });
  }
}

}  // namespace tessera::cpu
