// The loops around the microkernel: divides a product into blocks of C, KC blocks and tasks, packs,
// and calls the microkernels of one table. Called by gemm.cpp for products that are not tiny.
// The class is here; packed_product_*.hpp, at the end, have its longer functions by subject.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "blocking.hpp"
#include "epilogue.hpp"
#include "speed.hpp"
#include "tessera/core/team.hpp"
#include "tessera/cpu/packed_matrix.hpp"
#include "workspace.hpp"

namespace tessera::cpu {

/// The largest block of C, in rows and columns: bounds the memory for packed panels.
constexpr index_t kBlockOfC = 4096;

/// Rows of A that stay in L2, at most half of it, so that each panel of B is read from L3 once for
/// all of them, and many columns of a transposed A are packed at once. AMX needs its panel in L1.
/// Measured: bench/results/cpu/tuning.md.
constexpr index_t kBlockRows = 128;
/// Rows of the first block, with fused packing of B where L3 is near: while these rows use a panel,
/// the next one is loaded. Packing alone reads at half the speed of memory, in any order.
/// Measured: bench/results/cpu/tuning.md.
constexpr index_t kFirstRows = 64;
/// The least K of a micro-tile that prefetches: the operands of a shallower one are in the caches,
/// and prefetches would be a large part of its loads.
constexpr index_t kPrefetchDepth = 256;
/// The least number of columns of B that one thread packs for all: memory is fastest with long
/// rows.
constexpr index_t kShareColumns = 192;
constexpr index_t kMostShares = kBlockOfC / kShareColumns + 1;

/// Threads begin with their own ranges of tasks, so that a thread works on the same part of C
/// and B as in the last KC block or call. Where A's panels are shared, all begin together instead.
/// Measured: bench/results/cpu/tuning.md.
constexpr index_t kMostRanges = 16;

/// Rows of B that are multiplied with all panels of A, where there are several, before the next
/// rows: as many as the axpy form reads together.
constexpr index_t kAxpyTogether = 16;

/// The largest B, in multiples of L2 for each thread, for which strips of four rows, and of other
/// rows, leave prefetching to the hardware; and the number of rows of A that always do.
constexpr index_t kFourHardwarePrefetched = 8, kHardwarePrefetched = 2, kMostPrefetching = 10;

/// The prefetch distance in bytes for columns of B that are read together: by one thread, by
/// several, and into L2, where L1 is small. Measured: bench/results/cpu/tuning.md.
constexpr index_t kAheadSingleThreaded = 768, kAhead = 256, kAheadInL2 = 1024;

/// Estimated read bandwidth in bytes per nanosecond: from L2, a near L3, memory.
constexpr index_t kBytesOfL2 = 200, kBytesOfL3 = 100, kBytesOfMemory = 20;

/// Estimated single-threaded time of a product in nanoseconds.
template <class In, class Out, class Table>
std::int64_t expected_ns(index_t M, index_t N, index_t K, const Table& kernels) {
  const std::int64_t bytes =
      bounded_product(M + N, K, sizeof(In)) + bounded_product(M, N, sizeof(Out));
  const Caches& cache = caches();
  const index_t per_ns = bytes <= cache.l2                       ? kBytesOfL2
                         : 2 * bytes <= cache.l3 && !l3_is_far() ? kBytesOfL3
                                                                 : kBytesOfMemory;
  const std::int64_t vectors = bounded_product(M, N, K) / (kernels.lanes * kernels.group);
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 32;
  return std::min(vectors, most) * 16 / vectors_in_16_ns() + bytes / per_ns;
}

/// The types of a table of microkernels.
template <class Table>
struct TypesOf;
template <class Source_, class KGroup_, class Sum_>
struct TypesOf<Kernels<Source_, KGroup_, Sum_>> {
  using Source = Source_;
  using KGroup = KGroup_;
  using Sum = Sum_;
};

/// A running product. One block of C at a time; within it, KC blocks of kc along K; within a KC
/// block, tasks of mc x nc elements of C, which threads take one by one. A KC block begins when all
/// tasks of the previous one are done, because it continues their sums.
template <class In, class Out, class Table>
class Product {
 public:
  using Scalar = typename Gemm<In, Out>::Scalar;

  Product(const Gemm<In, Out>& call, const Table& kernels, const PackedMatrix<In>* B = nullptr);

  /// How B is read for few rows, if that route is taken.
  Stream stream() const { return blocks_.stream; }

  /// Columns before the first vector boundary of C, which alone prevent non-temporal stores.
  index_t columns_before_streaming() const { return columns_before_; }

  /// Bytes of workspace that it needs.
  std::size_t workspace() const { return needs().total; }

  /// False where there is no memory for packing.
  bool run();

 private:
  using Source = typename TypesOf<Table>::Source;
  using KGroup = typename TypesOf<Table>::KGroup;
  using Sum = typename TypesOf<Table>::Sum;
  /// The state of a part that is packed once for all threads: see version().
  using State = std::atomic<std::uint32_t>;

  /// Are the operands K-groups already, so that a microkernel may read them in place? A whose
  /// rows are contiguous can be more often: see Kernels::reads_a.
  static constexpr bool kUnpacked = std::is_same_v<In, KGroup>;

  /// Bytes of each part of the workspace, in whole cache lines, and the number of shares that
  /// threads pack.
  struct Needs {
    std::size_t a_kc_block, b_kc_block, sums, states, a_own, b_own, total;
    index_t a_shares, b_shares;
  };

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

  /// For each vector of a row of B, the cache line in which it ends is prefetched: the one in which
  /// it begins was read for the columns to its left. Measured: bench/results/cpu/tuning.md.
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

  // What is packed and kept, and the memory: packed_product_plan.hpp.
  Needs needs() const;
  static bool is_wide(const Gemm<In, Out>& call, const Table& kernels);
  bool b_is_small() const;
  Blocking cut(const PackedMatrix<In>* B) const;
  index_t block_rows() const;

  // Blocks of C and tasks: packed_product_tasks.hpp.
  void run_blocks_of_c();
  void work(int worker);
  index_t take(int worker, index_t kc_block);
  void run_task(int worker, index_t kc_block, index_t task);
  index_t task_row(index_t at) const;
  index_t task_column(index_t at) const;

  // Tasks with panels: packed_product_panels.hpp.
  MicroTile<KGroup, Sum> micro_tile(const Part& part, Sum* temporary) const;
  void multiply(MicroTile<KGroup, Sum>& micro, const Part& part, bool packed_a, index_t i,
                index_t j) const;
  void run_packed(int worker, const Part& part);
  void find_b(const Part& part, const KGroup** shares) const;
  index_t run_first_block(int worker, const Part& part, const KGroup** shares);
  void multiply_share(const Part& part, const Block& block, index_t s, const KGroup* b,
                      KGroup* copy = nullptr, const KGroup* next_share = nullptr);
  void multiply_shallow(MicroTile<KGroup, Sum>& micro, const Part& part, const Block& block,
                        index_t j, index_t a_step, Sum* sums) const;

  // Packing: packed_product_packing.hpp.
  void pack_panels_of_b(KGroup* to, const Part& part, index_t j, index_t j_end) const;
  int panel_of(index_t left) const;
  void pack_share(KGroup* to, const Part& part, index_t j, index_t j_end) const;
  bool begins(State& state, index_t kc_block) const;
  void ends(State& state, index_t kc_block) const;
  Block block_of_a(int worker, const Part& part, index_t i0, index_t i1);
  const KGroup* pack_block(KGroup* to, const Part& part, index_t i0, index_t i1) const;

  // Prefetching: packed_product_prefetch.hpp.
  void prefetch_next_b(MicroTile<KGroup, Sum>& micro, const Part& part, const Block& block,
                       index_t i, index_t j) const;
  void prefetch_next_rows(MicroTile<KGroup, Sum>& micro, const Part& part, const Block& block,
                          index_t i, index_t j, index_t panels) const;
  void prefetch_share(MicroTile<KGroup, Sum>& micro, const Part& part, const Block& block,
                      index_t i, const void* panel, index_t step, index_t rows) const;
  Prefetch next_block(const Part& part, index_t j) const;
  void prefetch_next_a(const Part& part, index_t i0, index_t i, index_t j) const;

  // Tasks of few rows: packed_product_unpacked.hpp.
  void run_streaming(int worker, const Part& part);
  void run_unpacked(int worker, const Part& part);
  static bool prefetches_in_order(index_t cols);
  void run_strips(const Part& part, MicroTile<KGroup, Sum> micro) const;
  void finish_unpacked(const Sum* sums, index_t sums_row, index_t i0, index_t i1, index_t j0,
                       index_t j1) const;

  index_t b_bytes() const { return call_.N * call_.K * static_cast<index_t>(sizeof(In)); }
  /// Does C hold sums to begin with? Forms that keep all sums in registers do not load them.
  bool goes_on() const { return call_.chain == Chain::goes_on; }
  /// Do tasks process all of their columns in one call, as run_unpacked does?
  bool axpys() const { return blocks_.stream == Stream::axpy || one_kc_block(); }
  /// All of K in one KC block, with the sums in registers.
  bool one_kc_block() const {
    return blocks_.stream == Stream::dots || blocks_.stream == Stream::strips;
  }
  /// Rows of A, rounded up to whole panels.
  index_t rows_of_sums() const { return round_up(call_.M, Table::kAxpyRows[axpy_]); }
  static std::size_t size(index_t n) { return static_cast<std::size_t>(n); }
  static std::size_t k_groups(index_t n) { return Workspace::rounded(size(n) * sizeof(KGroup)); }
  template <class Element>
  static const Source* source(const Element* p) {
    return reinterpret_cast<const Source*>(p);
  }
  template <class Element>
  static const KGroup* in_k_groups(const Element* p) {
    return reinterpret_cast<const KGroup*>(p);
  }
  /// Columns of the panels of a task.
  index_t task_columns() const { return round_up(blocks_.nc, blocks_.nr); }
  /// The distance of rows of an A that is unpacked, in K-groups.
  index_t a_row() const { return call_.a_row / kernels_.group; }
  /// Is there an epilogue after this KC block?
  bool finishes(const Part& part) const { return part.kc_block + 1 == kc_blocks_ && !plain_; }
  /// Is it one that full and `masked` micro-tiles apply in registers?
  bool ends_in_tile(const Part& part) const {
    return part.kc_block + 1 == kc_blocks_ && ends_in_tiles_;
  }
  /// The state value of a part that is packed for a KC block of this block of C; one less: being
  /// packed.
  std::uint32_t version(index_t kc_block) const {
    return static_cast<std::uint32_t>(2 * (blocks_of_c_done_ * kc_blocks_ + kc_block + 1));
  }
  KGroup* own_a(int worker) const { return a_own_ + worker * own_step_; }
  KGroup* own_b(int worker) const { return b_own_ + worker * own_step_; }

  const Gemm<In, Out>& call_;
  const Table& kernels_;
  const index_t k_groups_;  ///< along K
  const bool wide_;         ///< see is_wide
  const int mr_;            ///< rows of a micro-tile
  const Blocking blocks_;
  const index_t kc_blocks_;
  const bool plain_;              ///< C is the plain sums: microkernels store directly to it
  const bool ends_in_tiles_;      ///< microkernels apply the epilogue
  bool adds_to_far_c_;            ///< and C is prefetched before
  const KGroup* const packed_b_;  ///< all of B, where the caller has packed it
  const index_t most_cols_;  ///< columns of a block of C: whole vectors, or panels of a packed B
  const index_t share_columns_;  ///< columns of B in a share, whole panels
  bool pack_a_, pack_b_, stream_c_ = false;
  bool packs_b_, fuses_b_;  ///< B is not packed by the caller; fused packing
  bool prefetches_b_;       ///< prefetch the next packed panel, for each block of rows
  bool keeps_b_;            ///< more rows follow: packed panels are kept
  index_t first_rows_;
  bool share_a_ = false, share_b_ = false;  ///< packed once for all threads
  bool keeps_sums_;                         ///< beyond a micro-tile
  bool sums_in_c_;                          ///< C itself holds the sums between KC blocks
  index_t sums_row_;                        ///< else: the distance of their rows
  index_t columns_before_ = 0;              ///< see columns_before_streaming
  int axpy_ = 0;                            ///< the entry of `axpy`
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

#include "packed_product_packing.hpp"
#include "packed_product_panels.hpp"
#include "packed_product_plan.hpp"
#include "packed_product_prefetch.hpp"
#include "packed_product_tasks.hpp"
#include "packed_product_unpacked.hpp"
