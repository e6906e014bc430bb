// The loops around the microkernel: divides a product into blocks of C, KC blocks and tasks, packs,
// and calls the microkernels of one table. Called by gemm.cpp for products that are not tiny.
// Over 400 lines: one class, whose routes through a product share who has packed what.
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

/// Threads begin with ranges of tasks of their own, so that a thread works on the same part of C
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

/// A running product. One block of C at a time; within it, KC blocks of kc along K; within a KC
/// block, tasks of mc x nc elements of C, which threads take one by one. A KC block begins when all
/// tasks of the previous one are done, because it continues their sums.
template <class In, class Out, class Table>
class Product;

template <class In, class Out, class Source, class KGroup, class Sum>
class Product<In, Out, Kernels<Source, KGroup, Sum>> {
 public:
  using Table = Kernels<Source, KGroup, Sum>;
  using Scalar = typename Gemm<In, Out>::Scalar;

  // Over 60 lines: it plans the product; everything else reads its decisions.
  Product(const Gemm<In, Out>& call, const Table& kernels, const PackedMatrix<In>* B = nullptr)
      : call_(call),
        kernels_(kernels),
        k_groups_(ceil_div(call.K, kernels.group)),
        wide_(B == nullptr && is_wide(call, kernels)),
        mr_(wide_ ? kernels.wide_rows : kernels.rows),
        blocks_(cut(B)),
        kc_blocks_(ceil_div(k_groups_, blocks_.kc)),
        plain_(is_plain(call)),
        ends_in_tiles_(finishes_in_tiles(call, kernels)),
        packed_b_(B == nullptr ? nullptr : static_cast<const KGroup*>(B->data())),
        most_cols_(even_part(call.N, kBlockOfC, B == nullptr ? kernels.lanes : blocks_.nr)),
        share_columns_(round_up(kShareColumns, blocks_.nr)) {
    const index_t rows = std::min(call.M, kBlockOfC), cols = std::min(call.N, most_cols_);
    const auto bytes = static_cast<index_t>(sizeof(In));
    if (one_kc_block()) {
      // One or two rows of A are read unpacked where K-groups are single elements.
      pack_a_ = blocks_.stream == Stream::lines &&
                (call.M > (call.a_col == 1 ? kDotRowsOfAnyA : 2) || kernels.group > 1);
      pack_b_ = false;
    } else if (blocks_.stream == Stream::axpy) {
      pack_a_ = true, pack_b_ = false;
      const index_t groups = ceil_div(call.M, kernels.axpy_rows());
      axpy_ = kernels.axpy_entry(static_cast<int>(ceil_div(call.M, groups)));
    } else if (blocks_.stream != Stream::none) {
      pack_a_ = pack_b_ = true;
    } else {
      const index_t b_step = std::abs(call.b_row) * bytes;
      // Rows of A are read in place. Measured: bench/results/cpu/tuning.md.
      const bool a_lies_well = call.a_col == 1 && rows * call.K * bytes <= most_of_a_in_place();
      const bool a_passes_once = rows <= mr_ || cols <= blocks_.nr;
      const bool a_stays =
          (a_lies_well || cols <= 2 * blocks_.nr) && !rows_meet(call.a_row * bytes);
      pack_a_ = !kernels.reads_a(call.K, call.a_row, call.a_col) || !(a_passes_once || a_stays);
      const bool b_fits = (packed_b_ == nullptr && b_is_small()) ||
                          blocks_.kc * b_step <= (wide_ ? caches().l2 * 5 / 8 : caches().l2 / 4);
      pack_b_ = packed_b_ != nullptr || !kUnpacked || call.b_col != 1 ||
                b_crowds_l1(rows, call.K, b_step, mr_) || !(rows <= 2 * mr_ || b_fits);
      // Each thread packs its own copy of the panels of a transposed A where packing is a plain
      // copy: panels packed by a core of another L3 are slow to read, and all panels together do
      // not fit L2. Measured: bench/results/cpu/tuning.md.
      const bool copies_a = kUnpacked && call.a_col != 1 && call.threads > 1 && !l3_is_far();
      share_a_ = pack_a_ && cols > blocks_.nc && !copies_a;
      share_b_ = pack_b_ && packed_b_ == nullptr && call.threads > 1 && blocks_.shares_b;
    }
    prefetches_b_ =
        pack_b_ && !l3_is_far() && mr_ <= Table::kMaxRows && k_groups_ >= kPrefetchDepth &&
        (2 * blocks_.nr + kFirstRows) * blocks_.kc * static_cast<index_t>(sizeof(KGroup)) <=
            caches().l2 * 3 / 4;
    packs_b_ = pack_b_ && packed_b_ == nullptr;
    fuses_b_ = packs_b_ && kernels.copies_b(call.K) && call.b_col == 1 && !l3_is_far() &&
               (wide_ || cols > 4 * blocks_.nr);
    first_rows_ = round_up(blocks_.stream == Stream::panels ? blocks_.mc
                           : fuses_b_                       ? kFirstRows
                                                            : block_rows(),
                           mr_);
    keeps_b_ = (packs_b_ && !fuses_b_) || share_b_ || blocks_.mc > first_rows_;
    keeps_sums_ = kc_blocks_ > 1 || axpys() || goes_on();
    sums_in_c_ = std::is_same_v<Sum, Out> && call.c_col == 1 && call.beta == 0 &&
                 blocks_.stream != Stream::axpy;
    // Rows of sums an odd number of cache lines apart are in different sets.
    constexpr index_t line = 64 / static_cast<index_t>(sizeof(Sum));
    sums_row_ = (ceil_div(cols, line) | 1) * line;
    // A large C that is written once and not read again uses non-temporal stores, if its vectors
    // are aligned. Not with an epilogue, whose loads would wait for such stores. Measured:
    // bench/results/cpu/tuning.md.
    constexpr auto size = static_cast<index_t>(sizeof(Out));
    const index_t vector = kernels_.lanes * size;
    const bool only_stores =
        plain_ || (ends_in_tiles_ && call.beta == Scalar{0} && call.last.changes_nothing());
    adds_to_far_c_ = call.beta != Scalar{0} && call.M * call.N * size > caches().l2 / 2;
    const bool streams = only_stores && kc_blocks_ == 1 && !goes_on() &&
                         blocks_.stream == Stream::none && call.c_row * size % vector == 0 &&
                         call.M * call.N * size > 8 * caches().l2;
    const auto beyond = static_cast<index_t>(reinterpret_cast<std::uintptr_t>(call.C) %
                                             static_cast<std::uintptr_t>(vector));
    stream_c_ = streams && beyond == 0;
    const index_t before = (vector - beyond) % vector / size;
    if (streams && beyond % size == 0 && before < call.N) columns_before_ = before;
  }

  /// How B is read for few rows, if that route is taken.
  Stream stream() const { return blocks_.stream; }

  /// Columns before the first vector boundary of C, which alone prevent non-temporal stores.
  index_t columns_before_streaming() const { return columns_before_; }

  /// Bytes of workspace that it needs.
  std::size_t workspace() const { return needs().total; }

  /// False where there is no memory for packing.
  bool run() {
    const Needs needs = this->needs();
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

 private:
  /// Bytes of each part of the workspace, in whole cache lines, and the number of shares that
  /// threads pack.
  struct Needs {
    std::size_t a_kc_block, b_kc_block, sums, states, a_own, b_own, total;
    index_t a_shares, b_shares;
  };
  Needs needs() const {
    const index_t rows = std::min(call_.M, kBlockOfC), cols = std::min(call_.N, most_cols_);
    const index_t a_panels = ceil_div(rows, kernels_.rows);
    const index_t a_depth = blocks_.kc + kernels_.a_extra;
    const index_t b_depth = blocks_.kc + kernels_.b_extra;
    Needs out{};
    out.a_shares = share_a_ ? a_panels : 0;
    out.b_shares = share_b_ ? ceil_div(cols, blocks_.nc) * ceil_div(blocks_.nc, share_columns_) : 0;
    out.a_kc_block = share_a_ ? k_groups(a_panels * kernels_.rows * a_depth) : 0;
    out.b_kc_block = share_b_ ? k_groups(ceil_div(cols, blocks_.nc) * task_columns() * b_depth) : 0;
    const index_t sums_rows = blocks_.stream == Stream::axpy ? rows_of_sums()
                              : blocks_.stream == Stream::strips
                                  ? std::min<index_t>(rows, kernels_.rows)
                                  : rows;
    out.sums = keeps_sums_ && !sums_in_c_
                   ? Workspace::rounded(size(sums_rows * sums_row_) * sizeof(Sum))
                   : 0;
    out.states = Workspace::rounded(size(out.a_shares + out.b_shares) * sizeof(State));
    const index_t a_rows =
        blocks_.stream == Stream::axpy    ? rows_of_sums()
        : blocks_.stream == Stream::lines ? call_.M
        : blocks_.stream == Stream::copied
            ? round_up(blocks_.mc, kernels_.rows)
            : std::max(round_up(block_rows(), kernels_.rows), round_up(first_rows_, kernels_.rows));
    const index_t b_cols = blocks_.stream == Stream::copied ? blocks_.stream_panels * blocks_.nr
                           : keeps_b_                       ? task_columns()
                                                            : blocks_.nr;
    // For A: packed rows, or the row sums of unpacked rows.
    const bool uses_a_own = pack_a_ || fuses_b_ || kernels_.sum_rows != nullptr;
    out.a_own = uses_a_own ? k_groups(a_rows * a_depth) : 0;
    out.b_own = packs_b_ ? k_groups(b_cols * b_depth) : 0;
    const index_t tasks = ceil_div(rows, blocks_.mc) * ceil_div(cols, blocks_.nc);
    const std::size_t workers = size(std::min<index_t>(call_.threads, tasks));
    out.total =
        out.a_kc_block + out.b_kc_block + out.sums + out.states + workers * (out.a_own + out.b_own);
    return out;
  }

  /// Are the operands K-groups already, so that a microkernel may read them in place? A whose
  /// rows are contiguous can be more often: see Kernels::reads_a.
  static constexpr bool kUnpacked = std::is_same_v<In, KGroup>;
  /// The state of a part that is packed once for all threads: see version().
  using State = std::atomic<std::uint32_t>;

  /// Does one wide micro-tile cover all columns of C, so that each element of A is read once,
  /// unpacked?
  /// Measured: bench/results/cpu/tuning.md.
  static bool is_wide(const Gemm<In, Out>& call, const Table& kernels) {
    return kUnpacked && call.N > kernels.nr() && call.N <= kernels.one_panel() && call.a_col == 1;
  }
  index_t b_bytes() const { return call_.N * call_.K * static_cast<index_t>(sizeof(In)); }
  /// Is all of B better read in place?
  bool b_is_small() const {
    if (!kUnpacked || call_.b_col != 1) return false;
    const index_t step = std::abs(call_.b_row) * static_cast<index_t>(sizeof(In));
    const index_t most = most_in_place(call_.M, call_.K, step, call_.B, call_.threads);
    return call_.K * step <= std::max(most, caches().l2 / 4);
  }
  Blocking cut(const PackedMatrix<In>* B) const {
    const BlockingInput in{std::min(call_.M, kBlockOfC),
                           even_part(call_.N, kBlockOfC, 1),
                           k_groups_,
                           mr_,
                           kernels_.lanes,
                           wide_ ? Table::kMaxVectors : kernels_.vectors,
                           sizeof(KGroup),
                           kernels_.group,
                           call_.threads,
                           b_bytes(),
                           std::abs(call_.b_row) * static_cast<index_t>(sizeof(In)),
                           call_.b_col == 1,
                           call_.b_row == 1,
                           kernels_.axpys > 0 && !goes_on(),
                           goes_on() ? 0 : kernels_.dot_rows,
                           B == nullptr && !b_is_small() && call_.a_col == 1 &&
                               kernels_.reads_a(call_.K, call_.a_row, call_.a_col),
                           call_.a_col * static_cast<index_t>(sizeof(In)) % 4096 == 0};
    return B == nullptr ? block(in) : block_packed(in, B->kc(), B->nr(), B->nr());
  }
  /// Does C hold sums to begin with? Forms that keep all sums in registers do not load them.
  bool goes_on() const { return call_.chain == Chain::goes_on; }
  /// Do tasks process all of their columns in one call, as run_unpacked does?
  bool axpys() const { return blocks_.stream == Stream::axpy || one_kc_block(); }
  /// All of K in one KC block, with the sums in registers.
  bool one_kc_block() const {
    return blocks_.stream == Stream::lines || blocks_.stream == Stream::strips;
  }
  /// Rows of A, rounded up to whole panels.
  index_t rows_of_sums() const { return round_up(call_.M, Table::kAxpyRows[axpy_]); }
  index_t block_rows() const {
    if (wide_) return round_up(kFirstRows, mr_);
    const index_t bytes = blocks_.kc * static_cast<index_t>(sizeof(KGroup));
    const index_t room =
        prefetches_b_ ? caches().l2 * 3 / 4 - 2 * blocks_.nr * bytes : caches().l2 / 2;
    const index_t most = mr_ > Table::kMaxRows ? mr_ : std::min(kBlockRows, room / bytes);
    return std::max<index_t>(1, most / mr_) * mr_;
  }
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

  void run_blocks_of_c() {
    for (i0_ = 0; i0_ < call_.M; i0_ += kBlockOfC) {
      for (j0_ = 0; j0_ < call_.N; j0_ += most_cols_) {
        rows_ = std::min(kBlockOfC, call_.M - i0_);
        cols_ = std::min(most_cols_, call_.N - j0_);
        down_ = ceil_div(rows_, blocks_.mc), across_ = ceil_div(cols_, blocks_.nc);
        evens_out_ = down_ > index_t{3} * call_.threads;
        if (evens_out_ && across_ % call_.threads != 0)
          down_ = std::min(round_up(down_, call_.threads), ceil_div(rows_, mr_));
        tasks_ = down_ * across_;
        ranges_ = share_a_
                      ? 1
                      : static_cast<int>(std::min<index_t>({call_.threads, tasks_, kMostRanges}));
        for (int n = 0; n < ranges_; ++n) next_[n].task.store(0, std::memory_order_relaxed);
        done_.store(0, std::memory_order_relaxed);
        run_team(static_cast<int>(std::min<index_t>(call_.threads, tasks_)),
                 expected_ns<In, Out>(rows_, cols_, call_.K, kernels_), [this](int worker) {
                   work(worker);
                   // Non-temporal stores are weakly ordered: a fence must precede the signal that C
                   // is complete (Intel SDM vol. 3, 12.3.1).
                   if (stream_c_) done_.fetch_add(0, std::memory_order_seq_cst);
                 });
        ++blocks_of_c_done_;
      }
    }
  }

  /// Takes tasks until none is left: first those of its own range, then the remaining ones of
  /// others.
  void work(int worker) {
    if (!share_a_ && !share_b_) {  // tasks are independent: each computes all KC blocks
      for (index_t task; (task = take(worker, 0)) >= 0;) {
        for (index_t kc_block = 0; kc_block < kc_blocks_; ++kc_block)
          run_task(worker, kc_block, task);
      }
      return;
    }
    for (index_t kc_block = 0; kc_block < kc_blocks_; ++kc_block) {
      wait_for_team([&] { return done_.load(std::memory_order_acquire) >= kc_block * tasks_; });
      for (index_t task; (task = take(worker, kc_block)) >= 0;) {
        run_task(worker, kc_block, task);
        done_.fetch_add(1, std::memory_order_release);
      }
    }
  }

  /// The next task of a KC block for a worker, or -1.
  index_t take(int worker, index_t kc_block) {
    for (int n = 0; n < ranges_; ++n) {
      const int range = (worker + n) % ranges_;
      const index_t first = range * tasks_ / ranges_,
                    count = (range + 1) * tasks_ / ranges_ - first;
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
  void run_task(int worker, index_t kc_block, index_t task) {
    Part part;
    part.kc_block = kc_block;
    const index_t w0 = kc_block * blocks_.kc;
    part.k_groups = std::min(blocks_.kc, k_groups_ - w0);
    part.k0 = w0 * kernels_.group;
    part.k = std::min(part.k_groups * kernels_.group, call_.K - part.k0);
    const index_t at = task % down_;
    part.i = task_row(at);
    part.i_end = std::min(rows_, task_row(at + 1));
    part.j = task_column(task / down_);
    part.j_end = std::min(cols_, task_column(task / down_ + 1));
    if (axpys()) run_unpacked(worker, part);
    else if (blocks_.stream == Stream::copied) run_streaming(worker, part);
    else run_packed(worker, part);
  }

  /// The first row of the tasks in one row of tasks: equal parts, where there are many for each
  /// thread. Of few, the last is the smallest: workers start later than the caller, which takes the
  /// first. Measured:
  /// bench/results/cpu/tuning.md.
  index_t task_row(index_t at) const {
    return evens_out_ ? ceil_div(rows_, mr_) * at / down_ * mr_ : at * blocks_.mc;
  }

  /// The first column of the tasks in one row. A few tasks with strips are equal to within a
  /// vector.
  /// Measured: bench/results/cpu/tuning.md.
  index_t task_column(index_t at) const {
    const index_t lanes = kernels_.lanes;
    return blocks_.stream == Stream::strips ? ceil_div(cols_, lanes) * at / across_ * lanes
                                            : at * blocks_.nc;
  }

  /// The part of the product that one run of a task computes: rows, columns (within the block of C)
  /// and a KC block.
  struct Part {
    index_t kc_block, k0, k, k_groups;
    index_t i, i_end, j, j_end;
  };

  /// Sets the destination of the sums of a part and the strides of operands, which all of its
  /// micro-tiles share.
  MicroTile<KGroup, Sum> micro_tile(const Part& part, Sum* temporary) const {
    MicroTile<KGroup, Sum> micro{};
    micro.c = keeps_sums_ ? sums_ : temporary;
    micro.c_row = keeps_sums_ ? sums_row_ : kMostColumns;
    if constexpr (std::is_same_v<Sum, Out>) {
      if (sums_in_c_) micro.c = call_.C + i0_ * call_.c_row + j0_, micro.c_row = call_.c_row;
    }
    micro.K = part.k_groups;
    micro.a_row = pack_a_ ? 1 : a_row();
    micro.a_k = pack_a_ ? kernels_.rows : call_.a_col;
    micro.b_k = pack_b_ ? blocks_.nr : call_.b_row;
    micro.resume = part.kc_block > 0 || goes_on();
    micro.stream = stream_c_;
    return micro;
  }

  /// Multiplies one micro-tile at (i, j) and applies the epilogue after the last KC block.
  void multiply(MicroTile<KGroup, Sum>& micro, const Part& part, bool packed_a, index_t i,
                index_t j) const {
    const int vectors = kernels_.vectors_of(micro.cols);
    const bool fills = kernels_.fills_vectors(micro.cols), is_masked = !pack_b_ && !fills;
    const auto& table = micro.copy != nullptr ? kernels_.fused_packing
                        : is_masked           ? kernels_.masked[ends_in_tile(part)]
                        : packed_a            ? kernels_.packed
                                              : kernels_.direct;
    const auto run = table[kernels_.entry(micro.rows)][vectors - 1];
    if (!finishes(part)) run(micro);
    else
      run_and_finish_tile(call_, call_.C, kernels_, run, ends_in_tile(part) && (fills || is_masked),
                          micro, i0_ + i, j0_ + j, micro.rows);
  }
  /// Is there an epilogue after this KC block?
  bool finishes(const Part& part) const { return part.kc_block + 1 == kc_blocks_ && !plain_; }
  /// Is it one that full and `masked` micro-tiles apply in registers?
  bool ends_in_tile(const Part& part) const {
    return part.kc_block + 1 == kc_blocks_ && ends_in_tiles_;
  }

  /// Rows of A that are multiplied with one panel of B before the next.
  struct Block {
    index_t i, i_end;
    const KGroup* a;
    bool packed;
    const Sum* shifts = nullptr;  ///< of rows that are not packed: see Kernels::sum_rows
  };

  /// A task's part of B is in L3 or L2, packed or not. A few panels of A stay in L2 while it is
  /// streamed.
  void run_packed(int worker, const Part& part) {
    const KGroup* shares[kMostShares];  // first columns of the shares of B
    const index_t count = ceil_div(part.j_end - part.j, share_columns_);
    index_t i = part.i;
    if (packs_b_) i = run_first_block(worker, part, shares);
    else find_b(part, shares);
    for (index_t i_end; i < part.i_end; i = i_end) {
      i_end = std::min(part.i_end, i + block_rows());
      const Block block = block_of_a(worker, part, i, i_end);
      for (index_t s = 0; s < count; ++s)
        multiply_share(part, block, s, shares[s], nullptr, s + 1 < count ? shares[s + 1] : nullptr);
    }
  }

  /// The shares of a part of B that need no packing.
  void find_b(const Part& part, const KGroup** shares) const {
    const index_t count = ceil_div(part.j_end - part.j, share_columns_);
    const index_t depth = part.k_groups + kernels_.b_extra;
    for (index_t s = 0; s < count; ++s) {
      const index_t j = j0_ + part.j + s * share_columns_;
      if (packed_b_ != nullptr) {
        shares[s] = packed_b_ + j * depth +
                    part.kc_block * (blocks_.kc + kernels_.b_extra) * round_up(call_.N, blocks_.nr);
      } else if constexpr (kUnpacked) {
        shares[s] = call_.B + part.k0 * call_.b_row + j;
      }
    }
  }

  /// The first rows of a part, while B is packed: by fused packing where possible, else share by
  /// share. The first thread that needs a share packs it, and each starts with another share; a
  /// share that another thread is still packing is packed again, so that no thread waits. Returns
  /// the row after them.
  index_t run_first_block(int worker, const Part& part, const KGroup** shares) {
    const index_t i_end = std::min(part.i_end, part.i + first_rows_);
    const index_t count = ceil_div(part.j_end - part.j, share_columns_);
    const index_t depth = part.k_groups + kernels_.b_extra;
    State* const states = b_states_ + part.j / blocks_.nc * ceil_div(blocks_.nc, share_columns_);
    const auto is_packed = [&](const State& state) {
      return state.load(std::memory_order_acquire) == version(part.kc_block);
    };
    // The micro-tiles that pack B read a packed A; rows that find B packed leave A in place.
    // Measured: bench/results/cpu/tuning.md.
    const bool packs_a = fuses_b_ && !wide_ && !pack_a_ &&
                         !(share_b_ && std::all_of(states, states + count, is_packed));
    const Block block =
        packs_a ? Block{part.i, i_end, pack_block(own_a(worker), part, part.i, i_end), true}
                : block_of_a(worker, part, part.i, i_end);
    for (index_t n = 0; n < count; ++n) {
      const index_t s = share_b_ ? (n + worker * count / call_.threads) % count : n;
      const index_t at = s * share_columns_ * depth;
      KGroup* to = own_b(worker) + (keeps_b_ ? at : 0);
      bool packs = true, ends_it = false;
      if (share_b_) {
        ends_it = begins(states[s], part.kc_block);
        packs = ends_it || !is_packed(states[s]);
        if (ends_it || !packs) to = b_kc_block_ + part.j / blocks_.nc * task_columns() * depth + at;
      }
      shares[s] = to;
      if (packs && !fuses_b_) {
        const index_t j = part.j + s * share_columns_;
        pack_share(to, part, j, std::min(part.j_end, j + share_columns_));
        packs = false;
        if (ends_it) ends(states[s], part.kc_block);
        ends_it = false;
      }
      multiply_share(part, block, s, to, packs ? to : nullptr);
      if (ends_it) ends(states[s], part.kc_block);
    }
    return i_end;
  }

  void pack_panels_of_b(KGroup* to, const Part& part, index_t j, index_t j_end) const {
    kernels_.pack_b(to, blocks_.nr,
                    source(call_.B + part.k0 * call_.b_row + (j0_ + j) * call_.b_col), j_end - j,
                    part.k, call_.b_col, call_.b_row);
  }

  /// The columns of the next panel of a share, of which so many are left: two of two vectors
  /// instead of one of three and one of one, which has too few sums to hide the latency of
  /// multiply-adds.
  /// Measured: bench/results/cpu/tuning.md.
  int panel_of(index_t left) const {
    const index_t nr = blocks_.nr, lanes = kernels_.lanes;
    const bool splits = packed_b_ == nullptr && nr == 3 * lanes && left > nr && left <= nr + lanes;
    return static_cast<int>(splits ? 2 * lanes : std::min(nr, left));
  }
  void pack_share(KGroup* to, const Part& part, index_t j, index_t j_end) const {
    const index_t nr = blocks_.nr, depth = part.k_groups + kernels_.b_extra;
    index_t whole = j;
    while (panel_of(j_end - whole) == nr) whole += nr;
    if (whole > j) pack_panels_of_b(to, part, j, whole);
    to += (whole - j) * depth;
    for (j = whole; j < j_end; to += nr * depth) {
      const index_t next = j + panel_of(j_end - j);
      pack_panels_of_b(to, part, j, next);
      j = next;
    }
  }

  /// A block of A times a share of B, panel by panel. Where `copy` is given, the first rows read B
  /// unpacked and pack it there for the others, and all prefetch some of the next panel at the same
  /// time.
  /// Over 60 lines: the loops around the microkernel, one in another.
  void multiply_share(const Part& part, const Block& block, index_t s, const KGroup* b,
                      KGroup* copy = nullptr, const KGroup* next_share = nullptr) {
    const int mr = mr_, nr = blocks_.nr;
    const index_t first = part.j + s * share_columns_;
    const index_t end = std::min(part.j_end, first + share_columns_);
    const index_t depth = pack_b_ ? part.k_groups + kernels_.b_extra : 1;  // of a column of B
    const index_t a_step = block.packed ? part.k_groups + kernels_.a_extra : a_row();  // of a row
    alignas(64) Sum temporary[Table::kMostRows * kMostColumns];
    auto micro = micro_tile(part, temporary);
    if (block.packed) micro.a_row = 1, micro.a_k = kernels_.rows;
    Sum* const sums = micro.c;
    const bool in_place = sums != temporary;  // else one micro-tile after the other
    const bool prefetches = part.k_groups >= kPrefetchDepth;
    // The destination of micro-tiles' stores, which is prefetched.
    Sum* next_c = in_place && !stream_c_ && prefetches ? sums : nullptr;
    index_t c_row = micro.c_row;
    if constexpr (std::is_same_v<Sum, Out>) {
      if (ends_in_tile(part) && prefetches)
        next_c = call_.C + i0_ * call_.c_row + j0_, c_row = call_.c_row;
    }
    const index_t panels = ceil_div(part.j_end - part.j, nr);
    const bool prefetches_rows =
        prefetches && !block.packed && call_.a_col == 1 && panels <= (call_.threads == 1 ? 4 : 1);
    index_t panel = 0;  // packed before, or unpacked
    for (index_t j = first; j < end; j += micro.cols, panel += pack_b_ ? nr * depth : micro.cols) {
      micro.cols = panel_of(end - j);
      if (packs_b_ && !keeps_b_) panel = 0;
      const bool copies = copy != nullptr && kernels_.fills_vectors(micro.cols);
      if (copy != nullptr && !copies) pack_panels_of_b(copy + panel, part, j, j + micro.cols);
      if (!prefetches && copy == nullptr) {
        micro.b = b + panel;
        multiply_shallow(micro, part, block, j, a_step, in_place ? sums : nullptr);
        continue;
      }
      for (index_t i = block.i; i < block.i_end; i += mr) {
        micro.rows = static_cast<int>(std::min<index_t>(mr, block.i_end - i));
        micro.prefetch = micro.prefetch_a = nullptr, micro.prefetch_times = 0;
        micro.a = block.a + (i - block.i) * a_step;
        micro.b = b + panel;
        if (block.shifts != nullptr) micro.shifts = block.shifts + (i - block.i);
        micro.c = in_place ? sums + i * micro.c_row + j : sums;
        micro.next_c = next_c == nullptr             ? nullptr
                       : i + mr < block.i_end        ? next_c + (i + mr) * c_row + j
                       : j + micro.cols < part.j_end ? next_c + block.i * c_row + j + micro.cols
                       : block.i_end < part.i_end    ? next_c + block.i_end * c_row + part.j
                                                     : nullptr;  // another thread's
        if (copies || (wide_ && !pack_b_)) {
          prefetch_next_b(micro, part, block, i, j);
        } else if (prefetches_b_ && copy == nullptr) {
          prefetch_share(micro, part, block, i,
                         j + micro.cols < end ? micro.b + nr * depth : next_share,
                         index_t{nr} * sizeof(KGroup), part.k_groups);
        }
        const bool is_masked =
            !pack_b_ && !kernels_.fills_vectors(micro.cols);  // prefetches nothing
        if (prefetches_rows && !is_masked && micro.cols > kernels_.lanes)
          prefetch_next_rows(micro, part, block, i, j, panels);
        else if (prefetches && copy == nullptr)
          prefetch_next_a(part, block.i_end, i + block.i_end - block.i, j);
        if (copies && i == block.i) {
          auto first_rows = micro;
          first_rows.b = in_k_groups(call_.B + part.k0 * call_.b_row + j0_ + j);
          first_rows.b_k = call_.b_row;
          first_rows.copy = copy + panel, first_rows.copy_k = nr;
          multiply(first_rows, part, block.packed, i, j);
        } else {
          multiply(micro, part, block.packed, i, j);
        }
      }
    }
  }

  /// A block of A times one panel of B with so small a K that prefetching does not pay off and the
  /// overhead between micro-tiles matters. Measured: bench/results/cpu/tuning.md.
  void multiply_shallow(MicroTile<KGroup, Sum>& micro, const Part& part, const Block& block,
                        index_t j, index_t a_step, Sum* sums) const {
    const int vectors = kernels_.vectors_of(micro.cols);
    const bool fills = kernels_.fills_vectors(micro.cols), is_masked = !pack_b_ && !fills;
    const bool finishes_it = finishes(part), ends = ends_in_tile(part) && (fills || is_masked);
    const bool prefetches_c = ends && adds_to_far_c_;
    const auto& table = is_masked                    ? kernels_.masked[ends]
                        : block.packed               ? kernels_.packed
                        : kUnpacked && !prefetches_c ? kernels_.no_prefetch[ends]
                                                     : kernels_.direct;
    const index_t c_step = sums != nullptr ? mr_ * micro.c_row : 0;
    if (sums != nullptr) micro.c = sums + block.i * micro.c_row + j;
    micro.a = block.a;
    micro.next_c = nullptr, micro.prefetch = micro.prefetch_a = nullptr, micro.prefetch_times = 0;
    if constexpr (std::is_same_v<Sum, Out>) {
      if (ends) {  // the epilogue is the same for all, but for where its biases are
        FinishRow<Scalar> how = finish_at(call_, i0_ + block.i, j0_ + j);
        micro.finish = &how;
        micro.to = call_.C + (i0_ + block.i) * call_.c_row + j0_ + j, micro.to_row = call_.c_row;
        const index_t step = mr_ * micro.to_row;
        for (index_t i = block.i; i < block.i_end; i += mr_) {
          micro.rows = static_cast<int>(std::min<index_t>(mr_, block.i_end - i));
          if (block.shifts != nullptr) micro.shifts = block.shifts + (i - block.i);
          if (prefetches_c) micro.next_c = micro.to + step;
          table[kernels_.entry(micro.rows)][vectors - 1](micro);
          if (!how.last.changes_nothing()) finish_last_step(kernels_, micro, micro.rows);
          micro.a += mr_ * a_step, micro.c += c_step, micro.to += step;
          if (how.row_bias != nullptr) how.row_bias += mr_;
        }
        micro.finish = nullptr;
        return;
      }
    }
    for (index_t i = block.i; i < block.i_end; i += mr_) {
      micro.rows = static_cast<int>(std::min<index_t>(mr_, block.i_end - i));
      if (block.shifts != nullptr) micro.shifts = block.shifts + (i - block.i);
      table[kernels_.entry(micro.rows)][vectors - 1](micro);
      if (finishes_it)
        finish_tile(call_, call_.C, kernels_, micro.c, micro.c_row, i0_ + i, j0_ + j, micro.rows,
                    micro.cols);
      micro.a += mr_ * a_step, micro.c += c_step;
    }
  }

  /// A micro-tile of a block prefetches its share of the panel of B that follows column j: to the
  /// right, or, where no other rows come first, of the next KC block.
  void prefetch_next_b(MicroTile<KGroup, Sum>& micro, const Part& part, const Block& block,
                       index_t i, index_t j) const {
    const bool wraps = j + micro.cols >= part.j_end;
    const index_t k0 = wraps ? part.k0 + part.k : part.k0;
    const bool ends = wraps && (share_b_ || block.i_end < part.i_end);
    const index_t rows = ends ? 0 : std::min(blocks_.kc * kernels_.group, call_.K - k0);
    const auto* panel = call_.B + k0 * call_.b_row + j0_ + (wraps ? part.j : j + micro.cols);
    constexpr auto bytes = static_cast<index_t>(sizeof(In));
    const index_t step = call_.b_row * bytes;
    if (const index_t width = blocks_.nr * bytes; width > 64) {
      prefetch_share(micro, part, block, i, reinterpret_cast<const char*>(panel) + kLineEnd, step,
                     rows);
    } else {  // some rows at a time, of each the cache line that the previous panel has not read
      const int vectors = kernels_.vectors_of(micro.cols);
      prefetch_share(micro, part, block, i, reinterpret_cast<const char*>(panel) + width - 1,
                     step * vectors, rows / vectors);
      micro.prefetch_line = step;
    }
  }
  /// Few panels: a micro-tile (i, j) prefetches, while it multiplies, the rows of A that come next,
  /// in place: those of the next micro-tile, where the part of B is one panel, else its share of
  /// those of the next block. Measured: bench/results/cpu/tuning.md.
  void prefetch_next_rows(MicroTile<KGroup, Sum>& micro, const Part& part, const Block& block,
                          index_t i, index_t j, index_t panels) const {
    const bool is_all = panels == 1;
    index_t row = i + (is_all ? mr_ : block.i_end - block.i), k0 = part.k0;
    if ((is_all ? row : block.i_end) >=
        part.i_end) {  // of the next KC block, if it is this thread's
      row = is_all ? part.i : part.i + (i - block.i), k0 += part.k;
      if (share_a_ || share_b_ || k0 >= call_.K) return;
    }
    if (row >= part.i_end) return;
    const index_t bytes = std::min(part.k, call_.K - k0) * static_cast<index_t>(sizeof(In));
    const index_t begin = ceil_div(j - part.j, blocks_.nr) * bytes / panels / 64 * 64;
    micro.prefetch_a =
        reinterpret_cast<const char*>(call_.A + (i0_ + row) * call_.a_row + k0) + begin;
    micro.prefetch_a_bytes = std::min(bytes - begin, ceil_div(bytes, panels) + 63);
    const index_t times = mr_ * micro.prefetch_a_bytes / (64 * kernels_.vectors_of(micro.cols));
    if (micro.prefetch == nullptr) micro.prefetch_times = std::min(times, part.k_groups / 4);
  }
  /// A micro-tile at row i of a block prefetches its share of the rows of a panel, `step` bytes
  /// apart.
  void prefetch_share(MicroTile<KGroup, Sum>& micro, const Part& part, const Block& block,
                      index_t i, const void* panel, index_t step, index_t rows) const {
    const index_t tiles = ceil_div(block.i_end - block.i, mr_), tile = (i - block.i) / mr_;
    const index_t row = tile * rows / tiles;
    micro.prefetch_times = std::min((tile + 1) * rows / tiles - row, part.k_groups / 2);
    micro.prefetch_k = step;
    micro.prefetch_line = 64;
    if (panel == nullptr || micro.prefetch_times <= 0) micro.prefetch_times = 0;
    else micro.prefetch = static_cast<const char*>(panel) + row * step;
  }

  /// Few rows: B is read once, packed in blocks of few rows and many columns, and multiplied with
  /// all of A, which stays in L1. Where its rows are contiguous, the next block is prefetched into
  /// L2 at the same time, row by row in the order of memory.
  void run_streaming(int worker, const Part& part) {
    const int mr = mr_, nr = blocks_.nr;
    KGroup* const a = own_a(worker);
    KGroup* const packed_b = own_b(worker);
    const index_t a_panel = mr * (part.k_groups + kernels_.a_extra);
    const index_t a_panels = ceil_div(part.i_end - part.i, mr);
    kernels_.pack_a(a, mr, source(call_.A + (i0_ + part.i) * call_.a_row + part.k0 * call_.a_col),
                    part.i_end - part.i, part.k, call_.a_row, call_.a_col);
    alignas(64) Sum temporary[Table::kMostRows * kMostColumns];
    auto micro = micro_tile(part, temporary);
    Sum* const sums = micro.c;
    const bool in_place = sums != temporary;
    const index_t block = blocks_.stream_panels * nr;
    for (index_t j0 = part.j; j0 < part.j_end; j0 += block) {
      const index_t j1 = std::min(part.j_end, j0 + block);
      pack_panels_of_b(packed_b, part, j0, j1);
      Prefetch prefetch = next_block(part, j1);
      const index_t share = prefetch.lines / (ceil_div(j1 - j0, nr) * a_panels) + 1;
      for (index_t j = j0; j < j1; j += nr) {
        micro.cols = static_cast<int>(std::min<index_t>(nr, part.j_end - j));
        micro.b = packed_b + (j - j0) * (part.k_groups + kernels_.b_extra);
        micro.a = a;
        for (index_t i = part.i; i < part.i_end; i += mr, micro.a += a_panel) {
          micro.c = in_place ? sums + i * micro.c_row + j : sums;
          micro.next_c = in_place && i + mr >= part.i_end ? sums + part.i * micro.c_row + j + nr
                         : in_place                       ? micro.c + mr * micro.c_row
                                                          : sums;
          micro.rows = static_cast<int>(std::min<index_t>(mr, part.i_end - i));
          prefetch.some(share);
          multiply(micro, part, true, i, j);
        }
      }
    }
  }

  /// A task's columns in one call: in dot form; in axpy form, some rows of B with all of A before
  /// the next ones; or in strips.
  void run_unpacked(int worker, const Part& part) {
    const index_t group = kernels_.group, a_depth = part.k_groups + kernels_.a_extra;
    auto micro = micro_tile(part, sums_);
    micro.c += part.j;
    const auto* b = call_.B + part.k0 * call_.b_row + (j0_ + part.j) * call_.b_col;
    micro.b = in_k_groups(b);
    micro.cols = static_cast<int>(part.j_end - part.j);
    micro.k_rest = static_cast<int>(part.k % group);
    if constexpr (kUnpacked) {
      if (blocks_.stream == Stream::strips) return run_strips(part, micro);
    }
    const ElementA<In>* a = call_.A + part.k0 * call_.a_col;
    const int rows =
        blocks_.stream == Stream::lines ? static_cast<int>(call_.M) : Table::kAxpyRows[axpy_];
    KGroup* const panels = own_a(worker);
    if (pack_a_)
      kernels_.pack_a(panels, rows, source(a), call_.M, part.k, call_.a_row, call_.a_col);
    // The row sums at the end of panel i, which correct for shifted signs.
    const auto shifts = [&](index_t i) {
      const bool shifted = kernels_.sum_rows != nullptr;
      return shifted ? reinterpret_cast<const Sum*>(panels + i * a_depth + rows * part.k_groups)
                     : nullptr;
    };
    Sum* const sums = micro.c;
    if (blocks_.stream == Stream::lines) {
      micro.a = pack_a_ ? panels : in_k_groups(a);
      micro.a_row = pack_a_ ? 1 : call_.a_row, micro.a_k = pack_a_ ? rows : call_.a_col;
      micro.b_k = call_.b_col;
      micro.shifts = shifts(0);
      micro.prefetch_k = b_bytes() <= near_bytes() ? 0
                         : caches().l1 < kLargeL1  ? kAheadInL2
                         : call_.threads == 1      ? kAheadSingleThreaded
                                                   : kAhead;
      kernels_.dots[rows - 1](micro);
    } else {
      const index_t deep = rows < call_.M ? kAxpyTogether : part.k_groups;
      micro.prefetch_k = b_bytes() > 2 * near_bytes() && prefetches_in_order(micro.cols) ? 1 : 0;
      for (index_t w = 0; w < part.k_groups; w += deep) {
        micro.b = in_k_groups(b + w * group * call_.b_row);
        micro.K = std::min(deep, part.k_groups - w);
        micro.k_rest = w + deep < part.k_groups ? 0 : static_cast<int>(part.k % group);
        micro.resume = part.kc_block > 0 || w > 0;
        for (index_t i = 0; i < call_.M; i += rows) {
          micro.a = panels + i * a_depth + w * rows;
          micro.c = sums + i * micro.c_row;
          micro.shifts = w == 0 ? shifts(i) : nullptr;
          kernels_.axpy[axpy_](micro);
        }
      }
    }
    if (part.kc_block + 1 == kc_blocks_)
      finish_unpacked(sums, micro.c_row, 0, call_.M, part.j, part.j_end);
  }

  /// May the axpy form prefetch the next rows of B into L2, in all of a task's columns? Only where
  /// L1 is small: see axpy().
  static bool prefetches_in_order(index_t cols) {
    const index_t bytes = kAxpyTogether * cols * static_cast<index_t>(sizeof(In));
    return caches().l1 < kLargeL1 && bytes <= caches().l2 / 2;
  }

  /// A few rows of A, unpacked, in groups of at most MR. Each strip of columns stays in L2 for all
  /// groups; its sums, where C does not hold them, stay in L1. Whole micro-tiles are faster from L2
  /// and slower from L3. Measured: bench/results/cpu/tuning.md.
  void run_strips(const Part& part, MicroTile<KGroup, Sum> micro) const {
    const index_t rows = even_part(call_.M, kernels_.rows, 1), cols = micro.cols;
    const index_t most = kernels_.lanes * (kernels_.rows * kernels_.vectors / rows);
    const index_t width = rows < call_.M ? even_part(cols, most, kernels_.lanes) : cols;
    const auto first = micro;
    micro.a_row = call_.a_row, micro.a_k = call_.a_col;
    const index_t hardware_prefetched =
        call_.M == 4 ? kFourHardwarePrefetched : kHardwarePrefetched * call_.threads;
    micro.prefetch_k =
        call_.M <= kMostPrefetching && b_bytes() > hardware_prefetched * caches().l2 ? 1 : 0;
    if (call_.M == 1)  // out of L2: see row_by_row()
      micro.prefetch_k = caches().l1 < kLargeL1 && b_bytes() <= caches().l2 * 3 / 2 * call_.threads;
    for (index_t j = 0; j < cols; j += width) {
      micro.b = first.b + j;
      micro.cols = static_cast<int>(std::min(width, cols - j));
      for (index_t i = 0; i < call_.M; i += rows) {
        const index_t here = std::min(rows, call_.M - i);
        micro.a = call_.A + i * call_.a_row;
        if (sums_in_c_) micro.c = first.c + i * first.c_row + j;
        const bool is_tile = i > 0 && here == kernels_.rows && micro.cols == kernels_.nr();
        if (is_tile) kernels_.no_prefetch[0][here - 1][kernels_.vectors - 1](micro);
        else kernels_.strips[here - 1](micro);
        const index_t begin = part.j + j;
        finish_unpacked(micro.c, micro.c_row, i, i + here, begin, begin + micro.cols);
      }
    }
  }

  /// Applies the epilogue to rows [i0, i1) and columns [j0, j1) of C, whose sums are complete.
  void finish_unpacked(const Sum* sums, index_t sums_row, index_t i0, index_t i1, index_t j0,
                       index_t j1) const {
    if (plain_ && sums_in_c_) return;
    for (index_t i = i0; i < i1; i += kernels_.rows) {
      for (index_t j = j0; j < j1; j += kMostColumns) {
        finish_tile(call_, call_.C, kernels_, sums + (i - i0) * sums_row + j - j0, sums_row, i,
                    j0_ + j, static_cast<int>(std::min<index_t>(kernels_.rows, i1 - i)),
                    static_cast<int>(std::min<index_t>(kMostColumns, j1 - j)));
      }
    }
  }

  /// Walks over a block of B, eight rows at a time, cache line by cache line. For each vector of a
  /// row, the cache line in which it ends is prefetched: the one in which it begins was read for
  /// the columns to its left. Measured: bench/results/cpu/tuning.md.
  static constexpr index_t kLineEnd = 63;
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

  /// The block of B that follows column j of a part: further along the rows, or the next rows.
  Prefetch next_block(const Part& part, index_t j) const {
    if (call_.b_col != 1) return {};
    const bool wraps = j >= part.j_end;
    const index_t k0 = wraps ? part.k0 + part.k : part.k0;
    if (wraps) j = part.j;
    Prefetch out;
    out.row = reinterpret_cast<const char*>(call_.B + k0 * call_.b_row + j0_ + j) + kLineEnd;
    out.row_step = call_.b_row * static_cast<index_t>(sizeof(In));
    out.row_bytes = std::min(part.j_end - j, blocks_.stream_panels * blocks_.nr) *
                    static_cast<index_t>(sizeof(In));
    out.lines = std::min(blocks_.kc, call_.K - k0) * ceil_div(out.row_bytes, 64);
    return out;
  }

  /// Prefetches a part of the next panel of A into the cache, while micro-tile j of `columns`
  /// columns is multiplied: the same fraction of the panel as that tile has of the columns. Its
  /// block begins at row i0.
  void prefetch_next_a(const Part& part, index_t i0, index_t i, index_t j) const {
    const index_t columns = part.j_end - part.j;
    if (i + kernels_.rows > part.i_end || columns <= blocks_.nr) return;
    const auto prefetch = [&](const auto* from, index_t count) {
      constexpr index_t line = 64 / sizeof(*from);
      const index_t share = (count * blocks_.nr / columns + line) / line * line;
      const index_t begin = ceil_div(j - part.j, blocks_.nr) * share;
      for (index_t at = begin; at < std::min(count, begin + share); at += line)
        __builtin_prefetch(from + at, 0, 2);
    };
    if (share_a_ &&
        a_states_[i0 / kernels_.rows].load(std::memory_order_relaxed) == version(part.kc_block)) {
      const index_t depth = part.k_groups + kernels_.a_extra;
      prefetch(a_kc_block_ + i0 * (blocks_.kc + kernels_.a_extra) + (i - i0) * depth,
               depth * kernels_.rows);
    } else if (call_.a_col == 1) {
      const auto* from = call_.A + (i0_ + i) * call_.a_row + part.k0;
      for (int r = 0; r < kernels_.rows; ++r) prefetch(from + r * call_.a_row, part.k);
    }
  }

  /// The state value of a part that is packed for a KC block of this block of C; one less: being
  /// packed.
  std::uint32_t version(index_t kc_block) const {
    return static_cast<std::uint32_t>(2 * (blocks_of_c_done_ * kc_blocks_ + kc_block + 1));
  }
  /// Is the caller the first, so that it packs the part?
  bool begins(State& state, index_t kc_block) const {
    std::uint32_t seen = state.load(std::memory_order_relaxed);
    return seen < version(kc_block) - 1 &&
           state.compare_exchange_strong(seen, version(kc_block) - 1);
  }
  void ends(State& state, index_t kc_block) const {
    state.store(version(kc_block), std::memory_order_release);
  }

  /// Rows i0 to i1 of A, panel after panel, or unpacked. Packed blocks of a KC block are shared
  /// among threads, as B's shares are. All panels of a block are packed at once, because a row of a
  /// transposed A spans several. Measured: bench/results/cpu/tuning.md.
  Block block_of_a(int worker, const Part& part, index_t i0, index_t i1) {
    if (!pack_a_) {
      const KGroup* a = in_k_groups(call_.A + (i0_ + i0) * call_.a_row + part.k0 * call_.a_col);
      if (kernels_.sum_rows == nullptr) return {i0, i1, a, false};
      Sum* const shifts = reinterpret_cast<Sum*>(own_a(worker));
      kernels_.sum_rows(shifts, a, i1 - i0, part.k_groups, a_row());
      return {i0, i1, a, false, shifts};
    }
    if (!share_a_) return {i0, i1, pack_block(own_a(worker), part, i0, i1), true};
    KGroup* shared = a_kc_block_ + i0 * (blocks_.kc + kernels_.a_extra);
    State& state = a_states_[i0 / kernels_.rows];
    if (begins(state, part.kc_block)) pack_block(shared, part, i0, i1), ends(state, part.kc_block);
    const bool is_there = state.load(std::memory_order_acquire) == version(part.kc_block);
    return {i0, i1, is_there ? shared : pack_block(own_a(worker), part, i0, i1), true};
  }
  const KGroup* pack_block(KGroup* to, const Part& part, index_t i0, index_t i1) const {
    kernels_.pack_a(to, kernels_.rows,
                    source(call_.A + (i0_ + i0) * call_.a_row + part.k0 * call_.a_col), i1 - i0,
                    part.k, call_.a_row, call_.a_col);
    return to;
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
