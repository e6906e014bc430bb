// Watches the threads of one block: records what they do, aligns the lanes of each warp into
// instructions, and passes these to the counters and the rules. There is one for each OS thread
// that checks. Private to src/check.
//
// recorder.cpp records events, warp/instructions.cpp aligns (with warp/order.cpp if lanes
// diverge) and counts, race_rules.cpp finds races, thread_order.cpp handles order other than by
// barriers, uninitialized.cpp finds reads without a value, unseen_writes.cpp writes that were not
// recorded; mistakes.cpp and barriers.cpp describe mistakes. In a block with gates, async/rules.hpp
// judges instead of race_rules.cpp.
// Over 400 lines: the declaration of one class, which its sources implement.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>

#include "check/async/counts.hpp"
#include "check/async/rules.hpp"
#include "check/clocks.hpp"
#include "check/event_log.hpp"
#include "check/memory_map.hpp"
#include "check/shadow.hpp"
#include "check/stop_at.hpp"
#include "check/touches.hpp"
#include "check/warp/order.hpp"
#include "result.hpp"
#include "tessera/check/memory_rules.hpp"
#include "tessera/core/recorder.hpp"

namespace tessera::check {

/// The state that all recorders of a run share.
struct RunContext {
  const Options& options;
  const detail::Launch& launch;
  std::vector<Region> regions;                      ///< of the tensors
  std::vector<std::vector<std::byte>> before = {};  ///< the original content of the output tensors
  std::atomic<bool> stop{false};
  std::atomic<double> longest_block_s{0};  ///< of the blocks that completed
  std::unique_ptr<LaunchOrder> order = std::make_unique<LaunchOrder>();
};

class BlockRecorder final : public tessera::detail::Recorder, public BlockObserver {
 public:
  explicit BlockRecorder(const RunContext& context);

  /// Starts the next block, run by this scheduler beside these others.
  void start(const Position& block, BlockScheduler& scheduler,
             tessera::detail::Residents& residents);
  /// The block runs together with others, and has this rank among them.
  void join(ClusterRules& cluster, int rank);
  AsyncRules& async_rules() { return async_rules_; }
  /// The recorded result.
  BlockResult finish();
  const std::vector<Touches>& touches() const { return touches_; }
  /// Was the block stopped at the time limit?
  bool stopped() const { return stopped_; }
  /// Seconds since start().
  double seconds() const;
  /// Is the OS thread inside a kernel, where it may be stopped at any point?
  bool in_kernel() const { return in_kernel_.load(); }
  /// The running thread ends the program.
  Mistake exit_at() const;
  const RunContext& context() const { return context_; }
  void add_mistake(Mistake mistake);
  /// Counts one more occurrence of a known mistake of at least the same severity; false: it is new.
  bool is_repeated(const Mistake& mistake);
  /// The observer of asynchronous operations.
  AsyncObserver* async_observer() { return &async_counts_; }
  /// The rank of the block in its cluster.
  int rank() const { return async_rules_.rank(); }

  bool load(const void* address, std::size_t bytes, std::uint64_t unwritten, Here here) override;
  bool store(const void* address, std::size_t bytes, std::uint64_t bits, Here here) override;
  bool update(const void* address, std::size_t bytes, Here here) override;
  bool poll(const void* address, std::size_t bytes, Here here) override;
  void fence(Here here) override;
  void follow(Here here) override;
  void outside(const void* view, const index_t* position, int count, const index_t* existing,
               int rank, Here here) override;
  void multiply_add(bool has_value, Here here) override;
  void matrix_flops(std::int64_t flops, Here here) override;
  void empty_fragment(Here here) override;
  void missing_lane(int source, int lanes, Here here) override;
  void mark(Here here, tessera::detail::Trait trait) override;
  void no_value(int source, tessera::detail::NoValue why, Here here) override;
  void async_copies(bool begin) override { mode_ = begin ? mode_ | kAsync : mode_ & ~kAsync; }
  void commit(Here here) override;
  void wait(int pending, Here here) override;
  void leaves() override { ++left_; }
  void superstep(const char* name, Here here) override;

  void begins(std::byte* shared) override;
  void runs(int thread) override;
  void ends(int thread) override;
  void waits(int thread, const Here& here) override;
  void warp_met(int warp, const char* verb, const Here& here) override;
  void group_met(const std::vector<int>& threads, const char* verb, bool is_named,
                 const Here& here) override;
  bool warps_part(int thread, const Here& here, int other, const Here& other_here) override;
  bool block_met(const char* name, const Here& here, int ended) override;
  void fails(const BlockFault& fault) override;
  void met_without(const std::vector<int>& threads, std::uint64_t ended, const Here& here) override;
  void takes_turn() override;
  void comes_to_cluster(int thread) override;
  void passes_cluster(int thread, const Here& here) override;

 private:
  friend AsyncRules;
  friend AsyncCounts;

  /// One position in the source.
  struct Site {
    Here here;
    Counters counters;
    bool used = false;
    bool copies = false;       ///< asynchronously
    bool of_block = false;     ///< its atomics and fences reach no other block
    bool is_volatile = false;  ///< its atomics are volatile accesses
    bool uses_value = false;   ///< its updates depend on the value before
  };
  /// How the last access of one position was recorded: the next one is nearly always alike.
  struct Known {
    Here here;
    std::uint64_t what = 0;             ///< what_of() the access, and the mode; 0: none yet
    std::uint64_t begin = 0;            ///< of the region
    std::uint64_t first = 0, room = 0;  ///< of the object in it; minus the access
    AccessPoint* point = nullptr;
    std::optional<std::uint16_t> fill;  ///< as fill_of()
    /// Can an access of these bytes be recorded in one piece?
    bool covers(std::uint64_t address, std::size_t bytes) const {
      const std::uint64_t offset = address - begin;
      return offset - first <= room && ((address | offset) & (bytes - 1)) == 0;
    }
  };
  /// How accesses are to be taken, as bits. Special: the block has failed or has gates, the next
  /// access is outside its view, or a debugger waits for this thread.
  static constexpr std::uint64_t kAsync = 1, kSpecial = 2;
  static constexpr std::uint64_t what_of(tessera::detail::Access access, std::size_t bytes) {
    return bytes << 4 | static_cast<std::uint64_t>(access) << 2;
  }
  struct Pending {
    int group, region;
    std::uint64_t offset;
    int bytes;
    std::uint16_t site;
  };
  struct Async {
    int committed = 0;
    std::vector<Pending> copies;
    std::size_t room = 1024;  ///< before duplicates of one position are merged
  };
  struct TileAt {
    const tessera::detail::TileInfo* info = nullptr;
    std::uint64_t base = 0;
    std::uint32_t generation = 1, read_epoch = 0, load_epoch = 0;
  };
  /// An access by one lane, or the piece of it that a cell covers, as the rules see it.
  struct LaneAccess {
    int region, bytes, thread;
    std::uint64_t offset, bits;  ///< as in Event
    std::uint16_t site;
  };
  /// A read of uninitialized data, with its count.
  struct Unwritten {
    LaneAccess access;
    tessera::detail::Access how;
    std::uint32_t warp_epoch, stamp;
    std::int64_t count;
  };
  /// One side of a race.
  struct Side {
    int thread;
    std::uint16_t site;
    tessera::detail::Access how;
  };
  /// What is ordered before the thread's next accesses, and what its next atomic update publishes.
  /// "Near" means among threads of the block: fences and atomics of that scope suffice.
  struct Ordering {
    std::uint32_t tick = 0;
    ClockPtr before, read, read_near, fenced, fenced_near;
  };
  /// Lanes that ended before a barrier whose mask names them; and where they accessed memory since
  /// they left the others, at places that the others have not reached since.
  struct PassedBy {
    Here here;
    int warp = 0;
    std::uint64_t met = 0, ended = 0;
    std::vector<const AccessPoint*> points;
    bool is_told = false;
  };
  /// An element that is updated atomically, and its updates since the previous barrier.
  struct AtomicAt {
    int region;
    std::uint64_t offset;
    Here here;
    std::vector<bool> threads;
    std::uint32_t epoch;
    bool is_volatile;  ///< a volatile access
  };
  /// A thread's last atomic update of an element: a number after it.
  struct Updated {
    std::uint32_t number = 0;
    bool of_block = false;
  };
  /// The out-of-bounds element of the next access.
  struct Outside {
    bool pending = false;
    const void* view = nullptr;
    std::vector<index_t> position, existing;
  };

  // ---- recorder.cpp ----
  int warp_of(int thread) const { return thread >> warp_shift_; }
  const Region* find_region(std::uint64_t address, int* number);
  /// The bytes of the region that belong to one object, which begins at or before this byte.
  std::pair<std::uint64_t, std::uint64_t> object_around(const Region& found, int number,
                                                        std::uint64_t offset) const;
  /// Is the access possible? Reports what is wrong with it.
  bool is_possible(const Region& found, int number, std::uint64_t address, std::size_t bytes,
                   tessera::detail::Access access, Here here);
  Known& known_at(Here here, tessera::detail::Access access) {  // a copy loads and stores at one
    return known_[static_cast<std::size_t>(here.line * 7 + here.column +
                                           13 * static_cast<int>(access)) %
                  kKnown];
  }
  template <tessera::detail::Access kAccess>
  bool touch(const void* address, std::size_t bytes, std::uint64_t bits, Here here);
  /// An access that differs from the last one of its position.
  bool touch_anew(std::uint64_t address, std::size_t bytes, tessera::detail::Access access,
                  std::uint64_t bits, Here here);
  void report_empty_variable(Here here);
  bool touch_elsewhere(std::uint64_t address, std::size_t bytes, tessera::detail::Access access,
                       Here here);
  /// Shared memory of another block of the cluster.
  bool touch_image(int rank, std::uint64_t offset, std::size_t bytes,
                   tessera::detail::Access access, Here here);
  [[gnu::always_inline]] void log(const Event& event) {
    if (log_->full()) [[unlikely]]
      make_room();
    log_->add(event);
  }
  /// Lets the other lanes of the warp catch up, so that the log of this one can be emptied.
  [[gnu::noinline]] void make_room();
  void stop_at_access();
  /// Yields to other lanes if the log contains only repetitions of the same loads and stores.
  void give_way_if_polling();
  void shared_tile(std::uint64_t offset, const tessera::detail::TileInfo& info) override;
  /// Checks whether the next access is special.
  void settle() {
    const bool special =
        failed_ || outside_.pending || thread_ == stop_thread_ || async_rules_.is_on();
    mode_ = special ? mode_ | kSpecial : mode_ & ~kSpecial;
  }
  const Region& region(int number) const { return regions_[static_cast<std::size_t>(number)]; }
  std::uint16_t site_of(Here here) {
    return is_identical(last_site_here_, here) ? last_site_ : find_site(here);
  }
  std::uint16_t find_site(Here here);
  Counters& counters_at(Here here);
  /// Adds the multiply-adds since the last call to the counters of their position.
  void count_multiply_adds();
  TileAt* tile_at(std::uint64_t offset);
  void require_time() {
    if (context_.stop.load(std::memory_order_relaxed)) [[unlikely]]
      give_up();
  }
  void give_up();
  void reopen(int warp);

  // ---- unseen_writes.cpp ----
  /// Fills the shared memory of a new block with a value that a kernel hardly writes.
  void poison_shared(std::byte* shared, std::size_t bytes);
  /// Reports unrecorded changes there since the last block barrier.
  void find_unseen_writes();

  // ---- mistakes.cpp ----
  Mistake mistake_at(Kind kind, Memory memory, Here here, int thread) const;
  /// An access by the running thread.
  Mistake mistake_at(Kind kind, Memory memory, Here here, tessera::detail::Access access) const;
  void report_misaligned(int number, std::uint64_t address, std::size_t piece,
                         tessera::detail::Access access, Here here);
  void report_beyond(int number, std::uint64_t address, std::size_t bytes,
                     tessera::detail::Access access, Here here);
  /// The address is past an object of shared memory, before the next one.
  void report_between(const std::pair<std::uint64_t, std::uint64_t>& object, std::uint64_t offset,
                      tessera::detail::Access access, Here here);
  /// No region contains the address.
  void report_wild(std::uint64_t address, tessera::detail::Access access, Here here);
  /// The address is outside this region, the nearest to it; -1: there is none.
  void report_away(int nearest, std::uint64_t address, tessera::detail::Access access, Here here);
  void report_outside(bool is_memory, std::uint64_t address, tessera::detail::Access access,
                      Here here);
  /// Has the block passed this barrier before?
  bool has_met(Here barrier) const;
  /// Threads have ended, and others wait at the barrier: they returned, or have gone around it.
  void report_early_return(Here barrier, int ended);
  bool is_passed_by(Here barrier) const;
  /// These lanes come to `point`, as did some of those that passed the earlier meeting point.
  void find_passed_by(const AccessPoint& point, int warp, std::uint64_t active);
  void report_endless(const BlockFault& fault);
  /// The block crashed at this address, which should belong to a tensor.
  void name_missing_memory(Mistake& mistake, std::uint64_t address);
  /// Names tensor and element of a byte of a region.
  void locate(Mistake& mistake, int region, std::uint64_t offset);
  /// The variable of plain CUDA that contains the byte; null: none.
  const detail::SharedVariable* shared_variable_at(std::uint64_t offset) const;
  static std::string name_of(const TileAt& tile);
  /// The names of the tiles of shared storage from one byte to another.
  std::vector<std::string> tiles_between(std::uint64_t first, std::uint64_t last) const;
  /// The nearest tensor whose layout contains the address, though its memory does not; else the
  /// region that contains the address or is nearest to it; -1 if there is none.
  int nearest_region(std::uint64_t address);
  /// Of the running thread; callable from any function below its kernel.
  bool is_on_stack(std::uint64_t address) const {
    const auto frame = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
    return address - frame < context_.launch.stack_bytes;
  }
  /// The same number for all bytes of a tensor, or of a tile of shared storage.
  int object_at(int region, std::uint64_t offset);

  // ---- warp/instructions.cpp ----
  void drain_all();
  /// Executes the recorded events of a warp's lanes, as far as each lane's next event is known.
  void drain(int warp);
  Heads heads_of(int first, int lanes) const;
  /// Are the oldest events of all lanes at one position?
  static bool are_together(const Heads& heads);
  /// The lanes of `active` (bits) at offset_[lane] of its region execute the access `point`.
  void instruction(AccessPoint& point, int warp, std::uint64_t active, std::uint64_t all);
  AccessPoint& point_of(const char* file, std::uint64_t key);
  void count(AccessPoint& point, int warp, std::uint64_t active, std::uint64_t all);
  /// As the counters see it: a volatile store is a store.
  EventKind counted_kind(const AccessPoint& point) const {
    const EventKind kind = kind_of(point.key);
    return kind == EventKind::atomic && sites_[point.site].is_volatile ? EventKind::store : kind;
  }
  /// Sectors or wavefronts that the instruction needs.
  struct Cost {
    int transfers = 0, ideal = 0;
    bool is_merged = false;  ///< the merging of wide loads decided
  };
  Cost cost_of(const AccessPoint& point, std::uint64_t active) const;
  void take_sample(AccessPoint& point, int warp, std::uint64_t active, const Cost& cost);
  void cover(int region, EventKind kind, int bytes, std::uint64_t active);
  /// A bulk copy reads or writes an element of a tensor.
  void cover_element(int region, std::uint64_t offset, std::uint8_t how);
  bool is_bulk(const Region& r) const {
    return r.buffer >= 0 && context_.launch.buffers[static_cast<std::size_t>(r.buffer)].is_bulk;
  }
  void close_superstep(const std::string& label);
  void label_mistakes(const std::string& label);

  // ---- thread_order.cpp ----
  /// Blocks read and update each other's memory atomically in the order of their numbers, so that
  /// the findings are the same in every run. Waits for the blocks before this one.
  void await_earlier_blocks(const void* address);
  void releases(const void* address, Here here) override;
  void acquires(const void* address, Here here) override;
  /// From now on the block uses clocks.
  void begin_order();
  void add_stamp(int thread);
  /// The thread's events so far; begins a new tick.
  std::shared_ptr<Clock> end_tick();
  void ends_in_cluster();
  /// Calls body() with the thread's current order, which its recorded events may not have reached.
  template <class Body>
  void in_current_order(int thread, const Body& body) {
    if (orders_.empty()) return body();
    add_stamp(thread);
    std::uint32_t& stamp = replayed_[static_cast<std::size_t>(thread)];
    const auto kept = std::exchange(stamp, static_cast<std::uint32_t>(stamps_.size() - 1));
    body();
    stamp = kept;
  }
  /// To other blocks, the thread's write of these bytes happens now: a bulk store has ended.
  void renew_past(const LaneAccess& write);
  /// A bulk copy from a matrix that is no output: compared with other blocks' stores to it.
  void keep_read(int region, const BulkMove& move, int thread, Here here);
  /// The running thread's next accesses have its current order.
  void stamp_running(Here here);
  /// These threads have met; `own`: their own events, unless an epoch already orders them.
  void join_orders(const std::vector<int>& threads, const ClockPtr& own);
  /// The threads of a warp or block have met; all their events are executed.
  void join_all(int first, int count);
  bool is_shared(const void* address) const {
    return reinterpret_cast<std::uint64_t>(address) - shared_begin_ < shared_bytes_;
  }
  Past past_of(const LaneAccess& access, tessera::detail::Access how) const;
  /// Adds it to the chain of updates of its element.
  void number_update(const LaneAccess& access, Past& past);
  std::vector<Past>& pasts_at(const LaneAccess& piece);
  /// The accesses from before the block had clocks; of the block's own memory, since its barrier.
  void take_marks(const Cell& cell, bool is_of_block, std::vector<Past>& pasts) const;
  /// Reports earlier accesses that are not ordered with it; returns whether there are any.
  bool meet_pasts(const LaneAccess& access, tessera::detail::Access how);
  /// Has another thread of the block written the piece, not after the read?
  bool is_written_before(const LaneAccess& piece, const Past& reader);
  void note_atomic(const LaneAccess& access);
  /// Are the atomic updates, or the volatile accesses, of few elements?
  bool are_few(bool are_volatile) const;
  /// The position where two threads update one element atomically; line 0: none.
  Here atomic_between(int a, int b) const;
  void collect_order(BlockResult& out);

  // ---- race_rules.cpp ----
  /// The rules for an access by these lanes, at offset_[lane] of its region.
  void judge(const AccessPoint& point, int warp, std::uint64_t active);
  Shadow& shadow(int region) { return shadows_[static_cast<std::size_t>(region)]; }
  /// Calls body(piece, cell) for each cell of the access.
  template <class Body>
  void for_each_piece(const LaneAccess& access, Body&& body) {
    Shadow& cells = shadow(access.region);
    const auto range = cells.range(access.offset, static_cast<std::size_t>(access.bytes));
    if (range.last - range.first == 1) return body(access, cells.cell(range.first));  // the usual
    LaneAccess piece = access;
    for (std::uint64_t i = range.first; i < range.last; ++i) {
      piece.offset = i * cells.piece();
      piece.bytes = static_cast<int>(cells.piece());
      body(piece, cells.cell(i));
    }
  }
  Mistake mistake_of(Kind kind, const LaneAccess& access, tessera::detail::Access how) const;
  /// Adds a mistake of an access, with tensor and element.
  void report(Mistake mistake, const LaneAccess& access);
  /// Do both store in one instruction of their warp, which no barrier could order?
  bool is_at_once(const Side& earlier, const LaneAccess& access, tessera::detail::Access how) const;
  void report_race(const Side& earlier, const LaneAccess& access, tessera::detail::Access how,
                   bool one_warp, bool same_value, Order order = Order::none);
  /// Has the accessing thread waited for its own copies that are as old as the copy of `owner` that
  /// it meets? Then both have waited, and a barrier after the wait is missing.
  bool has_waited_like(int owner, const LaneAccess& access) const;
  /// Reports an access to data that an asynchronous copy may still be writing; false: it races with
  /// the copy, and the last write reports that.
  bool meet_pending(const LaneAccess& access, const Cell& cell, tessera::detail::Access how);
  void report_pending(const LaneAccess& access, const Cell& cell, tessera::detail::Access how);
  /// Reports those of `earlier` that nothing orders with the access; were there any?
  bool meet(const Marks& earlier, tessera::detail::Access theirs, const LaneAccess& access,
            tessera::detail::Access how, bool same_value);
  void read_by(const LaneAccess& access, tessera::detail::Access how);
  void write_by(const LaneAccess& access, tessera::detail::Access how);
  std::uint64_t bits_of_piece(const LaneAccess& whole, std::uint64_t offset);
  void read_tile(const LaneAccess& access, const Cell& cell);
  void write_tile(const LaneAccess& access, Cell& cell);
  void issue_async(const LaneAccess& access);
  static void forget_overwritten(Async& async);
  void commit_async(int thread);
  void wait_async(int thread, int pending);
  void never_waited(int thread);
  Mark mark_of(const LaneAccess& access) const {
    return {epoch_, warp_epoch_[static_cast<std::size_t>(warp_of(access.thread))],
            static_cast<std::uint16_t>(access.thread), access.site};
  }
  void collect_touched(BlockResult& out);

  // ---- uninitialized.cpp ----
  /// What fills the region's bytes without a value, in plain CUDA; none: unknown, or it has none.
  std::optional<std::uint16_t> fill_of(int region) const;
  /// Is it memory of a buffer that was not written before the launch?
  bool holds_nothing(const LaneAccess& piece) const;
  /// Does memory that the block has not written hold no value?
  bool lacks_first_value(const LaneAccess& piece) const;
  bool has_value(int region, std::uint64_t offset);
  /// Was it stored without an event? The compiler does not instrument all stores, such as those of
  /// results in memory.
  bool holds_unseen(const LaneAccess& whole);
  /// Is this byte, which has no value, padding of an object that the access copies?
  bool is_padding(const LaneAccess& whole, std::uint64_t at);
  bool lacks_value(const LaneAccess& whole, std::uint64_t at) {
    return !has_value(whole.region, at) && !is_padding(whole, at);
  }
  /// Adds the first bytes of the piece that lack a value, with those after them in the access.
  /// `judged`, its end, are those of earlier pieces.
  void add_missing(const LaneAccess& whole, const LaneAccess& piece, tessera::detail::Access how,
                   std::uint64_t& judged);
  void add_unwritten(const LaneAccess& piece, tessera::detail::Access how);
  /// Merges reads of one piece by one thread at one position: there are no more than pieces.
  void merge_unwritten();
  void resolve_uninitialized();
  std::uint32_t unwritten_mistake(const Mistake& mistake);

  const RunContext& context_;
  const bool rules_;
  int threads_ = 0, warp_size_ = 32, warp_shift_ = 5, warps_ = 0;
  Position block_;
  BlockScheduler* scheduler_ = nullptr;
  tessera::detail::Residents* residents_ = nullptr;
  std::chrono::steady_clock::time_point started_;
  std::vector<Region> regions_;  ///< [0] shared storage, then the tensors
  std::size_t last_region_ = 0;

  int thread_ = 0;
  EventLog* log_ = nullptr;
  int stop_thread_ = -1;          ///< the thread for the debugger; -1: not in this block
  bool stops_at_access_ = false;  ///< stop at the next access
  std::vector<EventLog> logs_;
  std::vector<const char*> superstep_of_;
  std::vector<Here> last_here_;   ///< of the last access or barrier of a thread
  Here* my_last_here_ = nullptr;  ///< of the running thread
  /// Lanes of each warp that have not ended; of those, the ones that may do more before the next
  /// barrier.
  std::vector<std::uint64_t> alive_, open_;
  int first_ended_ = -1;  ///< the first thread that has ended
  /// The first one in time that came to the end of the kernel's code, and how many of barriers_ the
  /// block had passed.
  int ran_through_ = -1;
  std::size_t barriers_before_ = 0;
  int left_ = 0;  ///< threads that ended at an impossible access
  std::atomic<bool> in_kernel_{false};
  bool has_awaited_earlier_ = false;
  std::uint64_t mode_ = 0;                 ///< kAsync, kSpecial
  bool failed_ = false, stopped_ = false;  ///< events of unwinding threads do not count
  Outside outside_;
  tessera::detail::Access last_access_ = tessera::detail::Access::load;

  std::vector<Site> sites_;
  std::unordered_map<std::uint64_t, std::vector<std::uint16_t>> site_index_;
  Here multiply_add_here_;          ///< of the last one
  std::int64_t multiply_adds_ = 0;  ///< there, not yet counted
  Here last_site_here_;
  std::uint16_t last_site_ = 0;
  std::vector<std::unique_ptr<AccessPoint>> points_;
  static constexpr std::size_t kKnown = 64;
  std::vector<Known> known_;  ///< by place
  std::map<std::pair<const char*, std::uint64_t>, AccessPoint*> point_index_;

  WarpOrder order_;
  std::uint64_t offset_[64] = {}, bits_[64] = {};  ///< of the current instruction
  std::uint64_t active_ = 0;                       ///< its lanes
  int bytes_ = 0;                                  ///< of each
  Counters epoch_counters_;                        ///< since the last block barrier
  std::vector<SuperstepCounters> supersteps_;
  std::vector<Touches> touches_;

  std::uint32_t epoch_ = 1;
  std::vector<std::uint32_t> warp_epoch_;
  std::vector<Shadow> shadows_;
  std::vector<Async> async_;
  std::vector<std::byte> seen_;        ///< shared storage at the last block barrier
  std::uint32_t seen_until_ = 1;       ///< the epoch after that barrier
  std::vector<TileAt> tiles_;          ///< of shared storage
  std::vector<int> tile_at_;           ///< by 16 bytes of shared storage; -1: none begins here
  std::vector<Unwritten> unwritten_;   ///< since the last barrier
  std::size_t unwritten_room_ = 4096;  ///< before equal ones are merged
  std::vector<Here> barriers_;         ///< of the block so far, each position once
  std::vector<Ordering> orders_;       ///< by thread; empty: the block has no clocks
  std::vector<Stamp> stamps_;
  /// by thread: barriers of the cluster that it reached
  std::vector<std::int64_t> cluster_rounds_;
  std::vector<std::uint32_t> replayed_;  ///< the stamp of each thread, up to the judged events
  Releases near_releases_;               ///< among the threads of the block
  Here near_fence_;                      ///< one that reaches no other block; line 0: none
  std::vector<PassedBy> passed_by_;
  std::map<std::pair<int, std::uint64_t>, std::vector<Past>> pasts_;  ///< by region and offset
  std::map<std::tuple<int, std::uint64_t, int>, Updated> updated_;    ///< and by thread
  std::vector<AtomicAt> atomics_;
  std::vector<BoxRead> box_reads_;
  std::vector<UnwrittenOutput> unwritten_outputs_;
  std::vector<Mistake> unwritten_mistakes_;
  AsyncRules async_rules_{*this};
  AsyncCounts async_counts_{*this, rules_ ? &async_rules_ : nullptr};
  std::vector<Here> polled_;        ///< where plain reads poll a value
  std::size_t touched_before_ = 0;  ///< elements that the block before touched
  std::vector<Mistake> mistakes_;
  std::size_t unlabelled_ = 0;  ///< mistakes from here on have no superstep yet
};

}  // namespace tessera::check
