// Carries out a PackedPlan (plan.hpp) with the microkernels of one table. Called by gemm.cpp. The
// class is here; the headers at the end have its functions by subject, first of all loops.hpp.
// Measurements: bench/results/cpu/tuning.md.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "cpu/expected_time.hpp"
#include "plan.hpp"
#include "tessera/core/team.hpp"

namespace tessera::cpu {

/// Shares of B in a task, at most.
constexpr index_t kMostShares = kBlockOfC / kShareColumns + 1;

/// Threads begin with their own ranges of tasks, so that a thread works on the same part of C and B
/// as in the last KC block or call. Where A's panels are shared, all begin together instead.
constexpr index_t kMostRanges = 16;

/// Rows of B that are multiplied with all panels of A, where there are several, before the next
/// rows: as many as the axpy form reads together.
constexpr index_t kAxpyTogether = 16;

/// The largest B, in multiples of L2 for each thread, for which strips of four rows, and of other
/// rows, leave prefetching to the hardware; and the number of rows of A that always do.
constexpr index_t kFourHardwarePrefetched = 8, kHardwarePrefetched = 2, kMostPrefetching = 10;

/// A running product. One block of C at a time; within it, KC blocks of kc along K; within a KC
/// block, tasks of mc x nc elements of C, which threads take one by one. A KC block begins when all
/// tasks of the previous one are done, because it continues their sums.
template <class In, class Out, class Table>
class Product {
 public:
  using Scalar = typename Gemm<In, Out>::Scalar;

  /// `plan` and `call` outlive it; B where the plan says that the caller has packed it.
  Product(const Gemm<In, Out>& call, const Table& kernels, const PackedPlan& plan,
          const PackedMatrix<In>* B = nullptr)
      : call_(call),
        kernels_(kernels),
        plan_(plan),
        packed_b_(B == nullptr ? nullptr : static_cast<const KGroup*>(B->data())) {}

  /// False where there is no memory for packing.
  bool run();

 private:
  using Source = typename Table::Source;
  using KGroup = typename Table::KGroup;
  using Sum = typename Table::Sum;
  /// The state of a part that is packed once for all threads: see version().
  using State = std::atomic<std::uint32_t>;

  static constexpr bool kUnpacked = kIsUnpacked<In, Table>;

  /// The part of the product that one run of a task computes: rows, columns (within the block of C)
  /// and a KC block.
  struct Part {
    index_t kc_block, k0, k, k_groups;
    index_t i, i_end, j, j_end;
  };

  /// Rows of A that are multiplied with one panel of B before the next.
  struct Block {
    index_t i, i_end;
    const KGroup* a;
    bool packed;
    const Sum* shifts = nullptr;  ///< of rows that are not packed: see Kernels::sum_rows
  };

  /// The register tiles of a block and a share of B, and of its current panel.
  struct Tiles {
    MicroTile<KGroup, Sum> micro;
    Sum* sums;             ///< where tiles store sums; null: in one place, one after the other
    index_t a_step;        ///< of a row of A
    bool packs;            ///< B is packed at the same time
    bool prefetches;       ///< K is long enough
    bool prefetches_rows;  ///< of A, unpacked
    Sum* next_c;           ///< what tiles store to is prefetched from here; null: not
    index_t next_c_row, panels;  ///< of a row of it; of the part of B
    KGroup* copy;                ///< the first rows pack the panel here
    const KGroup* next_b;        ///< the next packed panel
  };

  /// For each vector of a row of B, the cache line in which it ends is prefetched: the one in which
  /// it begins was read for the columns to its left.
  static constexpr index_t kLineEnd = 63;
  /// Walks over a block of B, eight rows at a time, cache line by cache line.
  struct Prefetch {
    const char* row = nullptr;
    index_t row_step = 0, row_bytes = 0, at = 0, lines = 0;
    int of_eight = 0;

    void some(index_t count) {
      for (count = std::min(count, lines), lines -= count; count > 0; --count) {
        __builtin_prefetch(row + of_eight * row_step + at, 0, 2);
        if (++of_eight < 8) continue;
        of_eight = 0;
        if ((at += 64) >= row_bytes) row += 8 * row_step, at = 0;
      }
    }
  };

  // The five loops: loops.hpp.
  void run_blocks_of_c();
  void work(int worker);
  void run_task(int worker, index_t kc_block, index_t task);
  void run_packed(int worker, const Part& part);
  void multiply_share(const Part& part, const Block& block, index_t s, const KGroup* b,
                      KGroup* copy = nullptr, const KGroup* next_share = nullptr);
  void multiply_panel(Tiles& tiles, const Part& part, const Block& block, index_t j);
  void multiply_shallow(const Part& part, const Block& block, index_t s, index_t s_end,
                        const KGroup* const* shares) const;

  // Memory and tasks.
  index_t take(int worker, index_t kc_block);
  /// The first row of the tasks in one row of tasks: equal parts, where there are many for each
  /// thread. Of few, the last is the smallest: workers start later than the caller, which takes the
  /// first.
  index_t task_row(index_t at) const {
    return evens_out_ ? ceil_div(rows_, plan_.mr) * at / down_ * plan_.mr : at * plan_.blocks.mc;
  }
  /// The first column of the tasks in one row. A few tasks with strips are equal to within a
  /// vector.
  index_t task_column(index_t at) const {
    const index_t lanes = kernels_.lanes;
    return plan_.blocks.stream == Stream::strips ? ceil_div(cols_, lanes) * at / across_ * lanes
                                                 : at * plan_.blocks.nc;
  }

  // One register tile: micro_tile.hpp.
  MicroTile<KGroup, Sum> micro_tile(const Part& part, Sum* temporary) const;
  Tiles tiles_of(const Part& part, const Block& block, bool packs, Sum* temporary) const;
  void multiply(MicroTile<KGroup, Sum>& micro, const Part& part, bool packed_a, index_t i,
                index_t j) const;

  // Packing: packing.hpp.
  void pack_panels_of_b(KGroup* to, const Part& part, index_t j, index_t j_end) const {
    kernels_.pack_b(to, plan_.blocks.nr,
                    source(call_.B + part.k0 * call_.b_row + (j0_ + j) * call_.b_col), j_end - j,
                    part.k, call_.b_col, call_.b_row);
  }
  /// The columns of the next panel of a share, given the number left: two of two vectors instead of
  /// one of three and one of one, which has too few sums to hide the latency of multiply-adds.
  int panel_of(index_t left) const {
    const index_t nr = plan_.blocks.nr, lanes = kernels_.lanes;
    const bool splits = packed_b_ == nullptr && nr == 3 * lanes && left > nr && left <= nr + lanes;
    return static_cast<int>(splits ? 2 * lanes : std::min(nr, left));
  }
  void pack_share(KGroup* to, const Part& part, index_t j, index_t j_end) const;
  /// Is the caller the first, so that it packs the part?
  bool begins(State& state, index_t kc_block) const {
    std::uint32_t seen = state.load(std::memory_order_relaxed);
    return seen < version(kc_block) - 1 &&
           state.compare_exchange_strong(seen, version(kc_block) - 1);
  }
  void ends(State& state, index_t kc_block) const {
    state.store(version(kc_block), std::memory_order_release);
  }
  Block block_of_a(int worker, const Part& part, index_t i0, index_t i1);
  const KGroup* pack_block(KGroup* to, const Part& part, index_t i0, index_t i1) const {
    kernels_.pack_a(to, kernels_.rows,
                    source(call_.A + (i0_ + i0) * call_.a_row + part.k0 * call_.a_col), i1 - i0,
                    part.k, call_.a_row, call_.a_col);
    return to;
  }
  void find_b(const Part& part, const KGroup** shares) const;
  index_t run_first_block(int worker, const Part& part, const KGroup** shares);

  // Prefetching: prefetch.hpp.
  /// Is C too large to stay in L2?
  bool c_is_far() const {
    return call_.M * call_.N * static_cast<index_t>(sizeof(Out)) > caches().l2 / 2;
  }
  void prefetch(Tiles& tiles, const Part& part, const Block& block, index_t i, index_t j) const;
  void prefetch_next_b(MicroTile<KGroup, Sum>& micro, const Part& part, const Block& block,
                       index_t i, index_t j) const;
  void prefetch_next_rows(MicroTile<KGroup, Sum>& micro, const Part& part, const Block& block,
                          index_t i, index_t j, index_t panels) const;
  void prefetch_share(MicroTile<KGroup, Sum>& micro, const Part& part, const Block& block,
                      index_t i, const void* panel, index_t step, index_t rows) const;
  Prefetch next_block(const Part& part, index_t j) const;
  void prefetch_next_a(const Part& part, index_t i0, index_t i, index_t j) const;

  // Tasks of few rows: few_rows.hpp.
  void run_streaming(int worker, const Part& part);
  void run_unpacked(int worker, const Part& part);
  /// May the axpy form prefetch the next rows of B into L2, in all of a task's columns? Only where
  /// tuning().prefetches_in_order: see axpy().
  static bool prefetches_in_order(index_t cols) {
    const index_t bytes = kAxpyTogether * cols * static_cast<index_t>(sizeof(In));
    return tuning().prefetches_in_order != 0 && bytes <= caches().l2 / 2;
  }
  void run_strips(const Part& part, MicroTile<KGroup, Sum> micro) const;
  void finish_unpacked(const Sum* sums, index_t sums_row, index_t i0, index_t i1, index_t j0,
                       index_t j1) const;

  index_t b_bytes() const { return call_.N * call_.K * static_cast<index_t>(sizeof(In)); }
  /// Does C hold sums to begin with? Forms that keep all sums in registers do not load them.
  bool goes_on() const { return call_.chain == Chain::goes_on; }
  template <class Element>
  static const Source* source(const Element* p) {
    return reinterpret_cast<const Source*>(p);
  }
  template <class Element>
  static const KGroup* in_k_groups(const Element* p) {
    return reinterpret_cast<const KGroup*>(p);
  }
  /// The distance of rows of an A that is unpacked, in K-groups.
  index_t a_row() const { return call_.a_row / kernels_.group; }
  /// Is there an epilogue after this KC block?
  bool finishes(const Part& part) const {
    return part.kc_block + 1 == plan_.kc_blocks && plan_.finish != FinishAt::never;
  }
  /// Is it one that full and `masked` micro-tiles apply in registers?
  bool ends_in_tile(const Part& part) const {
    return part.kc_block + 1 == plan_.kc_blocks && plan_.finish == FinishAt::tiles;
  }
  /// The state value of a part that is packed for a KC block of this block of C; one less: being
  /// packed.
  std::uint32_t version(index_t kc_block) const {
    return static_cast<std::uint32_t>(2 * (blocks_of_c_done_ * plan_.kc_blocks + kc_block + 1));
  }
  KGroup* own_a(int worker) const { return a_own_ + worker * own_step_; }
  KGroup* own_b(int worker) const { return b_own_ + worker * own_step_; }

  const Gemm<In, Out>& call_;
  const Table& kernels_;
  const PackedPlan& plan_;
  const KGroup* const packed_b_;  ///< all of B, where the caller has packed it
  KGroup *a_kc_block_ = nullptr, *b_kc_block_ = nullptr;  // packed for one KC block, shared
  State *a_states_ = nullptr, *b_states_ = nullptr;
  Sum* sums_ = nullptr;                         // sums between KC blocks, where C cannot hold them
  KGroup *a_own_ = nullptr, *b_own_ = nullptr;  // each worker's own panels
  index_t own_step_ = 0;
  index_t i0_ = 0, j0_ = 0, rows_ = 0, cols_ = 0;  // the block of C
  index_t down_ = 0, across_ = 0, tasks_ = 0, blocks_of_c_done_ = 0;
  bool evens_out_ = false;  ///< see task_row
  struct alignas(64) Next {
    std::atomic<index_t> task;
  };
  int ranges_ = 1;
  Next next_[kMostRanges];
  alignas(64) std::atomic<index_t> done_{0};
};

}  // namespace tessera::cpu

#include "few_rows.hpp"
#include "loops.hpp"
#include "micro_tile.hpp"
#include "packing.hpp"
#include "prefetch.hpp"
