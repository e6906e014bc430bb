// Blocks of C, KC blocks and tasks of the packed product, and who runs which task; run() allocates
// the panels first. Part of product.hpp, which includes it.
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

/// Takes tasks until none is left: first those of its own range, then the remaining ones of
/// others.
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

/// The next task of a KC block for a worker, or -1.
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

/// One KC block of K of one task.
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
  if (plan_.is_unpacked()) run_unpacked(worker, part);
  else if (plan_.blocks.stream == Stream::copied) run_streaming(worker, part);
  else run_packed(worker, part);
}

/// The first row of the tasks in one row of tasks: equal parts, where there are many for each
/// thread. Of few, the last is the smallest: workers start later than the caller, which takes the
/// first. Measured:
/// bench/results/cpu/tuning.md.
template <class In, class Out, class Table>
inline index_t Product<In, Out, Table>::task_row(index_t at) const {
  return evens_out_ ? ceil_div(rows_, plan_.mr) * at / down_ * plan_.mr : at * plan_.blocks.mc;
}

/// The first column of the tasks in one row. A few tasks with strips are equal to within a
/// vector.
/// Measured: bench/results/cpu/tuning.md.
template <class In, class Out, class Table>
inline index_t Product<In, Out, Table>::task_column(index_t at) const {
  const index_t lanes = kernels_.lanes;
  return plan_.blocks.stream == Stream::strips ? ceil_div(cols_, lanes) * at / across_ * lanes
                                               : at * plan_.blocks.nc;
}

}  // namespace tessera::cpu
