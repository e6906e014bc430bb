// The state of one running block: its threads, where each of them waits, and their fibers. Private
// to src/simt. Invariant: until a block fails, every thread is unstarted,
// ready, waiting with its location recorded, or finished.
//
// setup.cpp begins a block, scheduler.cpp decides who runs next, standstill.cpp explains why nobody
// can, failure.cpp ends a block that has gone wrong.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "simt/async_machine.hpp"
#include "simt/fiber.hpp"
#include "simt/residents.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"
#include "tessera/simt/block_scheduler.hpp"

namespace tessera {

namespace detail {

/// Unwinds the fibers of a block that has already failed.
struct Cancelled {};

enum class Run : std::uint8_t {
  unstarted,
  ready,
  at_barrier,
  at_warp_barrier,
  at_collective,  ///< of the lanes that a mask names
  at_named_barrier,
  at_gate,
  at_unit_wait,  ///< of its warpgroup
  at_cluster_wait,
  at_active_mask,  ///< until no other thread can continue
  finished
};
inline bool is_waiting(Run run) {
  return run != Run::unstarted && run != Run::ready && run != Run::finished;
}

/// The threads that have arrived at a named barrier.
struct NamedBarrier {
  int count = 0;  ///< threads that it waits for
  std::vector<int> threads;
  std::vector<int> last;     ///< those that met there before
  std::vector<int> waiting;  ///< of these: the others have only arrived
  unsigned met = 0;          ///< how often it was passed
};

struct Wait {
  Here where;
  const char* name = nullptr;
};

/// Where a thread is between the two halves of the barrier of its cluster.
enum class ClusterStep : std::uint8_t { none, has_come, all_have_come };

/// A thread's wait at a gate.
struct GateWait {
  const Gate* gate = nullptr;
  unsigned phase = 0;
  bool is_arrival = false;  ///< it cannot arrive before the end of that phase
  int passed = 0;           ///< waits of the thread that have ended
};

/// The threads of a warpgroup that wait for all but their newest groups of matrix instructions.
struct UnitWait {
  std::vector<int> threads;
  int pending = 0;
};

/// "wait at the barrier 'load' at kernel.cpp:12".
std::string describe(const std::string& kind, const Wait& wait);

/// Compares the addresses of the texts: equal at one barrier but for rare cases.
inline bool identical(const Wait& a, const char* name, const Here& here) {
  return a.where.file == here.file && a.where.line == here.line && a.where.column == here.column &&
         a.name == name;
}

/// Bytes of each lane in the storage of its warp.
inline constexpr std::size_t kSlotBytes = 16;

struct AlignedBytes {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  ~AlignedBytes() { std::free(data); }
  void reserve(std::size_t wanted) {
    if (wanted <= bytes) return;
    std::free(data);
    data = static_cast<std::byte*>(std::aligned_alloc(1024, (wanted + 1023) / 1024 * 1024));
    bytes = data == nullptr ? 0 : wanted;
    if (data == nullptr)
      throw Error(Category::resource, cat("no memory for ", wanted, " bytes of shared storage"));
  }
};

}  // namespace detail

struct BlockScheduler::State {
  using Fiber = detail::Fiber;
  using Run = detail::Run;

  BlockTask task;
  int threads = 0;
  int warp_shift = 5;  ///< 2^warp_shift lanes make a warp
  std::vector<Run> run;
  std::vector<Fiber*> fiber_of;
  std::vector<const detail::Wait*> wait;  ///< on the stack of the thread that waits
  std::vector<int> warp_arrived;
  std::vector<int> warp_first;        ///< the thread that arrived first at its warp's barrier
  std::vector<int> order;             ///< thread numbers in the order of this phase
  std::uint64_t seed = 0, draws = 0;  ///< of this block's shuffles
  int cursor = 0;                     ///< position in `order` of the running thread
  int arrived = 0, finished = 0;
  int first_arrived = 0;  ///< the thread that arrived first at the current barrier
  bool parted = false;    ///< warps have arrived at it from different source locations
  // State of features that few kernels use, by thread; created on first use.
  std::vector<detail::NamedBarrier> named;
  std::vector<Collective*> collective;  ///< of lanes at one, on their stacks
  std::vector<std::uint64_t> active_of;
  std::vector<Poll> polls;  ///< the last unsuccessful poll
  std::vector<detail::GateWait> gate_waits;
  std::vector<detail::UnitWait> unit_waits;  ///< by warpgroup
  std::unique_ptr<detail::AsyncMachine> machine;
  int active_waiting = 0;      ///< lanes at_active_mask
  int polls_in_round = 0;      ///< since progress was last checked
  bool round_may_end = false;  ///< one of the polls of this round may succeed
  int round_length = 0;        ///< the threads that could run then
  bool moved = false;          ///< any progress since then, other than polls of unchanged values
  int quiet_rounds = 0;
  detail::Residents::Rest rest;
  Cluster* cluster = nullptr;  ///< the blocks that this one runs with; null: it runs alone
  int rank = 0;                ///< in it
  Fiber* suspended = nullptr;  ///< resumes when it is this block's turn
  bool is_polling = false;     ///< all its runnable threads have polled without success
  std::vector<detail::ClusterStep> at_cluster;  ///< by thread; made when it is used first
  int come_to_cluster = 0;                      ///< threads whose step is has_come
  bool cancelled = false;
  bool abandoned = false;  ///< some fibers were abandoned with live frames
  std::exception_ptr failure;

  std::unique_ptr<detail::StackArena> arena;
  std::vector<Fiber> fibers;
  std::vector<Fiber*> idle;
  Fiber main;
  Fiber* current = nullptr;
  detail::Exceptions* exceptions = nullptr;  ///< of the OS thread that runs the block
  enum class Fault : std::uint8_t { none, stack, crash, interrupted };
  Fault taken_by = Fault::none;              ///< the fault that interrupted the running thread
  const std::byte* fault_address = nullptr;  ///< of Fault::stack, and of accesses that crashed
  int crash_signal = 0;                      ///< of Fault::crash
  std::atomic<bool> stopping = false;        ///< stop() was called
  pthread_t os_thread{};                     ///< that runs the block
  detail::AlignedBytes shared, exchange, scratch;

  ~State() {
    for (auto& fiber : fibers) detail::release(fiber);
  }

  int lanes_of(int warp) const { return std::min(task.warp_size, threads - (warp << warp_shift)); }

  // ---- setup.cpp ----

  void begin(const BlockTask& next_task);
  void reserve_stacks();
  /// The same order on every machine, which std::shuffle does not promise.
  void shuffle();

  // ---- scheduler.cpp ----
  // Inline there, so that a barrier is one function. Measured:
  // bench/results/cpu/tuning.md.

  inline void start_fiber(Fiber& fiber);
  inline Fiber* take_idle();
  /// The next thread to run, or -1 when the block is over. Releases a complete barrier; ends a
  /// block that is stuck.
  inline int pick();
  /// Runs threads until this fiber has nothing left to do. Never returns.
  [[noreturn]] void fiber_main();
  /// Records the end of a thread; returns if this fiber is to run the next unstarted one.
  inline void finish_thread(int thread);
  /// Abandons the running thread with live frames. The block has already failed.
  [[noreturn]] void abandon_thread(int thread);
  /// The running thread has to wait.
  inline void block();
  /// The same, not inlined, for other files.
  void wait_in_line();
  /// The running thread lets this one run first, which can.
  void run_now(int thread);
  /// Switches to `next`, at the cursor; returns when the running thread is resumed.
  inline void hand_over(int next);
  /// Each fiber has its own state of exceptions in flight; usually none.
  void exchange_exceptions(Fiber& from, Fiber& to) {
    if (exceptions->any() || to.exceptions.any()) [[unlikely]] {
      from.exceptions = *exceptions;
      *exceptions = std::exchange(to.exceptions, {});
    }
  }
  void resume(Fiber& from, Fiber& to) {
    exchange_exceptions(from, to);
    current = &to;
    detail::switch_fiber(from, to);
  }
  [[noreturn]] void leave(Fiber& from, Fiber& to) {
    exchange_exceptions(from, to);
    current = &to;
    detail::leave_fiber(from, to);
  }

  /// Runs the block's threads until all have ended, or it is another block's turn.
  void go();
  /// All of them have ended.
  void end();

  // ---- cluster.cpp ----

  /// Runs another block of the cluster that does not only poll; returns whether there is one.
  bool let_others_run();
  /// No thread of this block can continue by itself: runs the others. False: none of them can
  /// continue either.
  bool wait_for_turn();
  /// Lets the next block of the cluster run; returns when it is this block's turn again.
  void pass_turn();
  /// This block waits while block `next` of the cluster runs.
  void wait_for(int next);
  /// Is it, or a block that it runs with, to be stopped?
  bool is_stopping() const;
  /// Has it made progress since the last call?
  bool has_moved();
  detail::Residents::Rest& resting();
  bool can_run() const;
  /// Releases the cluster barrier if all threads have arrived.
  void meet_cluster();
  /// Block `rank` of the cluster, as long as it runs: else ends this one.
  State& member(int thread, int rank, const char* what, const Here& here);
  /// A gate of that block. Ends this one where it is not open.
  detail::GateState& gate_in(State& block, int thread, const Gate* gate, const Here& here);
  /// The corresponding address in the shared storage of `other`.
  template <class T>
  T* in(const State& other, const T* mine) const {
    return static_cast<T*>(static_cast<void*>(
        other.shared.data +
        (static_cast<const std::byte*>(static_cast<const void*>(mine)) - shared.data)));
  }

  // ---- partial_barriers.cpp ----

  Error misuse(int thread, const Here& here, const std::string& problem,
               const std::string& expected, const std::string& got,
               const std::string& advice) const;
  /// Ends the block for an invalid use of a verb.
  [[noreturn]] void misused(int thread, const Here& here, const std::string& problem,
                            const std::string& expected, const std::string& got,
                            const std::string& advice,
                            BlockFault::Kind kind = BlockFault::Kind::misused);
  /// Have all lanes of the thread's mask arrived?
  bool have_come(int thread) const;
  /// They have: each gets its result and continues.
  void exchange_values(int thread);
  /// Releases lanes that waited only for this thread.
  void lane_ended(int thread);
  void require_named(int thread, int id, int count, const Here& here);
  /// Counts the thread's arrival; if it is the last one, releases the waiting threads and returns
  /// true.
  bool come_to(detail::NamedBarrier& barrier, int thread, int id, int count, bool waits,
               const Here& here);
  void require_whole_warps(int id, const detail::NamedBarrier& barrier, const Here& here);
  /// Releases these threads, which have passed the barrier.
  void release(const std::vector<int>& threads);
  /// Releases lanes that waited until no other thread could run; returns whether there were any.
  bool release_active();
  /// After so many rounds without success nobody changes the value any more.
  int enough_rounds() const;
  /// Another round in which all threads have polled without success.
  void quiet_round();
  [[noreturn]] void deadlocked();

  // ---- cpu_async.cpp ----

  detail::AsyncMachine& async();
  /// Ends the block where it is not open.
  detail::GateState& gate_of(int thread, const Gate* gate, const Here& here);
  /// Ends the block where no bulk copy or store may begin: at this place in shared storage, or at
  /// this coordinate of the contiguous mode.
  void require_box(int thread, const BulkFields& f, int x, std::uint32_t shared, const char* what,
                   const Here& here);
  /// Ends the block where all have arrived that the gate counts.
  void require_missing(int thread, const detail::GateState& gate, const Here& here);
  void fail_arrival(int thread, const detail::GateState& gate, const Here& here);
  /// A phase of the gate has ended. The first thread that can continue; -1: there is none.
  int let_through(const Gate* gate);
  void wait_at_gate(int thread, const Gate* gate, unsigned phase, bool is_arrival,
                    const Here& here);
  /// Executes one deferred bulk copy to these gates, or any deferred one; false: there is none.
  bool carry_out_one(std::span<const Gate* const> gates = {});
  /// Executes deferred matrix instructions or a deferred bulk copy that threads wait for; false:
  /// there are none.
  bool carry_out_awaited();
  int threads_of(int warpgroup) const;
  void end_unit_wait(int warpgroup);

  // ---- standstill.cpp ----

  /// A thread of this block, or of another one of the cluster.
  struct Member {
    const State* block;
    int thread;
  };
  /// Known threads without which this thread's wait does not end; none: nobody knows which.
  std::vector<Member> awaited(int thread) const;
  std::vector<Member> awaited_at_gate(int thread) const;
  std::vector<Member> awaited_at_named(int thread) const;
  /// Does any thread wait at a gate?
  bool waits_at_gates() const;
  /// No thread can continue: one whose wait does not depend on another waiting thread.
  Member root_of_standstill() const;
  /// Why no thread can continue: which wait where, and which have ended.
  /// The wait of `thread` is the reason; -1: a barrier of the whole block is.
  Error stuck(int thread) const;
  BlockFault stuck_fault() const;
  /// The block fails because the wait of this thread does not end.
  void fail_at(int thread);
  /// No thread can continue: that is why the block fails, or the one whose wait is the reason.
  void fail_stuck();
  /// Which threads wait, poll or have ended, each location once, that of `first` first.
  std::string places_text(const Member& first) const;
  std::string place_of(int thread) const;
  std::string named_place(int thread) const;
  /// The named barrier at which the thread waits; -1: at none.
  int named_of(int thread) const;
  /// The lanes of a mask that do not arrive, and the threads missing at a named barrier: that of
  /// thread `first` if it waits at one.
  std::string missing_text(int first = -1) const;

  // ---- failure.cpp ----

  std::string kernel_and_block() const;
  std::string thread_text(int thread) const;
  /// The thread has come to a barrier that does not look like that of `first_thread`. `unit`:
  /// "block" or "warp".
  /// A thread that arrives at another barrier than the first waiting one is a fault; so are warps
  /// at different barriers, unless whole warps may be.
  [[gnu::cold]] void meet_elsewhere(int thread, const detail::Wait& mine);
  [[gnu::cold]] void require_same_barrier(const char* unit, const char* barrier, int first_thread,
                                          int thread, const detail::Wait& mine);
  /// Records why the block fails, if it has not failed before: the Error that `make` returns, or
  /// that there is no memory for it.
  template <class Make>
  void fail(BlockFault fault, const Make& make) {
    if (failure) return;
    try {
      const Error error = make();
      failure = std::make_exception_ptr(error);
      if (task.observer != nullptr) report_to_observer(std::move(fault), error);
    } catch (const std::bad_alloc&) {
      failure = std::current_exception();
    }
  }
  /// Reports it to the observer, in the words of the Error less the names of kernel, block and
  /// thread.
  void report_to_observer(BlockFault fault, const Error& error) const;
  /// Ends the block with the exception that is being handled, if the kernel threw it.
  void fail_with_current(int thread, const char* where);
  /// Unwinds every waiting thread, and drops those that have not started.
  void cancel();
  /// In place of std::terminate: the thread's frames cannot be unwound, so they are abandoned, and
  /// the block ends.
  [[noreturn]] void terminated();
  /// A thread of a failed block waits again. Returns if it is being unwound and a destructor waits;
  /// a thread that has caught the unwinding exception is abandoned.
  [[gnu::cold]] void wait_after_failure(int thread);
  /// Ends the block at once after a fault of the running thread: an overflowing frame may have
  /// written into other threads' stacks, so nothing on them runs again, not even destructors.
  [[noreturn]] void taken_off();
  Error fault_error(int thread) const;
  std::string crash_text() const;
};

}  // namespace tessera
