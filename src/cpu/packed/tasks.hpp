// The memory of a packed product, and its tasks: which thread takes which, and their rows and
// columns. Part of product.hpp, which includes it. Measurements: bench/results/cpu/tuning.md.
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

/// The first row of the tasks in one row of tasks: equal parts, where there are many for each
/// thread. Of few, the last is the smallest: workers start later than the caller, which takes the
/// first.
template <class In, class Out, class Table>
inline index_t Product<In, Out, Table>::task_row(index_t at) const {
  return evens_out_ ? ceil_div(rows_, plan_.mr) * at / down_ * plan_.mr : at * plan_.blocks.mc;
}

/// The first column of the tasks in one row. A few tasks with strips are equal to within a vector.
template <class In, class Out, class Table>
inline index_t Product<In, Out, Table>::task_column(index_t at) const {
  const index_t lanes = kernels_.lanes;
  return plan_.blocks.stream == Stream::strips ? ceil_div(cols_, lanes) * at / across_ * lanes
                                               : at * plan_.blocks.nc;
}

}  // namespace tessera::cpu
