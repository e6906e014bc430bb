// The threads of one block as fibers on one OS thread: who runs next, who waits where, and how a
// block that has gone wrong ends. Invariant: until a block fails, every thread is unstarted, ready,
// waiting with its place noted, or finished; when none can run, the waits say why. Called through
// BlockScheduler by launch.hpp and the thread's context.
#include "tessera/simt/block_scheduler.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fault_scope.hpp"
#include "fiber.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/random.hpp"

namespace tessera {

using detail::Fiber;

namespace {

/// Unwinds the fibers of a block that has already failed.
struct Cancelled {};

enum class Run : std::uint8_t { unstarted, ready, at_barrier, at_warp_barrier, finished };

struct Wait {
  Here where;
  const char* name = nullptr;
};

/// The same texts at the same addresses: nearly always so for one barrier.
bool identical(const Wait& a, const char* name, const Here& here) {
  return a.where.file == here.file && a.where.line == here.line && a.where.column == here.column &&
         a.name == name;
}

bool same_text(const char* a, const char* b) {
  return a == b || (a != nullptr && b != nullptr && std::strcmp(a, b) == 0);
}

std::string describe(const char* kind, const Wait& wait) {
  std::string text = kind;
  if (wait.name != nullptr) text += cat(" '", wait.name, "'");
  text += cat(" at ", wait.where.file, ":", wait.where.line);
  return wait.where.column > 0 ? cat(text, ":", wait.where.column) : text;
}

constexpr std::size_t kSlotBytes = 16;
constexpr std::size_t kWarpScratchBytes = 4096;

struct Aligned {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  ~Aligned() { std::free(data); }
  void reserve(std::size_t wanted) {
    if (wanted <= bytes) return;
    std::free(data);
    data = static_cast<std::byte*>(std::aligned_alloc(128, (wanted + 127) / 128 * 128));
    bytes = data == nullptr ? 0 : wanted;
    if (data == nullptr)
      throw Error(Category::resource, cat("no memory for ", wanted, " bytes of shared storage"));
  }
};

}  // namespace

struct BlockScheduler::State {
  BlockTask task;
  int threads = 0;
  int warp_shift = 5;  ///< 2^warp_shift lanes make a warp
  std::vector<Run> run;
  std::vector<Fiber*> fiber_of;
  std::vector<const Wait*> wait;  ///< on the stack of the thread that waits
  std::vector<int> warp_arrived;
  std::vector<int> warp_first;  ///< the lane that came to its warp's barrier first, as a thread
  std::vector<int> order;       ///< thread numbers in the order of this phase
  std::uint64_t seed = 0, draws = 0;  ///< of this block's shuffles
  int cursor = 0;                     ///< position in `order` of the running thread
  int arrived = 0, finished = 0;
  int first_arrived = 0;  ///< the thread that came to the current barrier first
  bool cancelled = false;
  bool abandoned = false;  ///< some fibers were left in the middle of their frames
  std::exception_ptr failure;

  std::unique_ptr<detail::StackArena> arena;
  std::vector<Fiber> fibers;
  std::vector<Fiber*> idle;
  Fiber main;
  Fiber* current = nullptr;
  detail::Exceptions* exceptions = nullptr;  ///< of the OS thread that runs the block
  const std::byte* fault_address = nullptr;  ///< of a stack overflow
  Aligned shared, exchange, scratch;

  ~State() {
    for (auto& fiber : fibers) detail::release(fiber);
  }

  int lanes_of(int warp) const { return std::min(task.warp_size, threads - (warp << warp_shift)); }

  std::string kernel_and_block() const {
    return cat("kernel ", task.kernel_name, ", block ", to_string(task.block));
  }
  std::string thread_text(int thread) const {
    return to_string(position_of(thread, task.block_dim));
  }

  void reserve_stacks() {
    // The size is exact: a kernel must not pass because another one before it needed more.
    if (arena != nullptr && arena->count() >= threads && arena->wanted_bytes() == task.stack_bytes)
      return;
    for (auto& fiber : fibers) detail::release(fiber);
    fibers.clear();
    arena.reset();  // and last to be made: where it is, there is everything
    fibers.resize(static_cast<std::size_t>(threads));
    arena = std::make_unique<detail::StackArena>(threads, task.stack_bytes);
    for (int i = 0; i < threads; ++i) {
      fibers[static_cast<std::size_t>(i)].stack_low = arena->low(i);
      fibers[static_cast<std::size_t>(i)].stack_bytes = arena->stack_bytes();
    }
  }

  void begin(const BlockTask& next_task) {
    task = next_task;
    threads = static_cast<int>(volume(task.block_dim));
    const auto count = static_cast<std::size_t>(threads);
    const auto lanes = static_cast<std::size_t>(task.warp_size);
    const auto warps = (count + lanes - 1) / lanes;
    warp_shift = std::countr_zero(lanes);
    reserve_stacks();
    run.assign(count, Run::unstarted);
    fiber_of.assign(count, nullptr);
    wait.resize(count);
    warp_arrived.assign(warps, 0);
    warp_first.resize(warps);
    if (order.size() != count || task.order == ThreadOrder::shuffled) order.resize(count);
    std::iota(order.begin(), order.end(), 0);
    if (task.order == ThreadOrder::backward) std::reverse(order.begin(), order.end());
    seed = task.seed ^ (static_cast<std::uint64_t>(task.block.linear) << 32);
    draws = 0;
    if (task.order == ThreadOrder::shuffled) shuffle();
    arrived = finished = 0;
    cancelled = abandoned = false;
    failure = nullptr;
    idle.clear();
    for (int i = threads; i-- > 0;) idle.push_back(&fibers[static_cast<std::size_t>(i)]);
    shared.reserve(std::max<std::size_t>(task.shared_bytes, 1));
    std::memset(shared.data, 0xff, task.shared_bytes);
    exchange.reserve(2 * warps * lanes * kSlotBytes);
    scratch.reserve(warps * kWarpScratchBytes);
  }

  /// The same order on every machine, which std::shuffle does not promise.
  void shuffle() {
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[random_bits(seed, draws++) % i]);
  }

  void start_fiber(Fiber& fiber) {
    // Different tops keep the frames of neighbouring threads out of each other's cache sets.
    const auto index = static_cast<std::size_t>(&fiber - fibers.data());
    detail::prepare(
        fiber, index * 832 % 4096 / 64 * 64,
        [](void* self) { static_cast<State*>(self)->fiber_main(); }, this);
  }

  Fiber* take_idle() {
    Fiber* fiber = idle.back();
    idle.pop_back();
    start_fiber(*fiber);
    return fiber;
  }

  /// The next thread to run, or -1 when the block is over. Releases a complete barrier; ends a
  /// block that is stuck.
  int pick() {
    for (;;) {
      if (arrived == threads) {
        arrived = 0;
        std::fill(run.begin(), run.end(), Run::ready);
        if (task.order == ThreadOrder::shuffled) shuffle();
        cursor = 0;
        return order[0];
      }
      for (int step = 1; step <= threads; ++step) {
        int position = cursor + step;
        if (position >= threads) position -= threads;
        const auto thread = static_cast<std::size_t>(order[static_cast<std::size_t>(position)]);
        if (run[thread] == Run::unstarted || run[thread] == Run::ready) {
          cursor = position;
          return static_cast<int>(thread);
        }
      }
      if (finished == threads) return -1;
      if (!cancelled) fail(std::make_exception_ptr(stuck()));
      cancel();
    }
  }

  /// Why no thread can go on: who waits where, and who has already ended.
  Error stuck() const {
    std::vector<std::string> places;
    std::vector<int> first, count;
    const auto note = [&](const std::string& place, int thread) {
      const auto found = std::find(places.begin(), places.end(), place);
      const auto at = static_cast<std::size_t>(found - places.begin());
      if (found == places.end()) {
        places.push_back(place);
        first.push_back(thread);
        count.push_back(0);
      }
      ++count[at];
    };
    for (int thread = 0; thread < threads; ++thread) {
      const auto i = static_cast<std::size_t>(thread);
      if (run[i] == Run::at_barrier) note(describe("wait at the barrier", *wait[i]), thread);
      else if (run[i] == Run::at_warp_barrier)
        note(describe("wait at the warp barrier", *wait[i]), thread);
      else note("have ended", thread);
    }
    std::string text;
    for (std::size_t i = 0; i < places.size() && i < 4; ++i) {
      text += cat(i == 0 ? "" : ", ", count[i], " of ", threads, " threads ", places[i],
                  " (first: thread ", thread_text(first[i]), ")");
    }
    return Error(Category::kernel,
                 cat(kernel_and_block(), ": a barrier that not all threads reach: ", text), {}, {},
                 "move the barrier out of the branch or loop that some threads leave early");
  }

  /// The thread has come to a barrier that does not look like that of `first_thread`. `unit`:
  /// "block" or "warp".
  [[gnu::cold, gnu::noinline]] void require_same_barrier(const char* unit, const char* barrier,
                                                         int first_thread, int thread,
                                                         const Wait& mine) {
    const Wait& first = *wait[static_cast<std::size_t>(first_thread)];
    if (first.where.line == mine.where.line && first.where.column == mine.where.column &&
        same_text(first.where.file, mine.where.file) && same_text(first.name, mine.name))
      return;
    fail(std::make_exception_ptr(
        Error(Category::kernel,
              cat(kernel_and_block(), ": threads of one ", unit, " reached different barriers: ",
                  "thread ", thread_text(first_thread), " waits at the ", describe(barrier, first),
                  ", thread ", thread_text(thread), " at the ", describe(barrier, mine)),
              {}, {}, cat("let all threads of the ", unit, " pass the same barriers"))));
    cancel();
    throw Cancelled{};
  }

  void fail(std::exception_ptr reason) {
    if (!failure) failure = std::move(reason);
  }

  /// Lets every waiting thread unwind, and forgets those that have not started.
  void cancel() {
    cancelled = true;
    for (auto& state : run) {
      if (state == Run::unstarted) {
        state = Run::finished;
        ++finished;
      } else if (state == Run::at_barrier || state == Run::at_warp_barrier) {
        state = Run::ready;
      }
    }
    arrived = 0;
  }

  /// Runs threads until there is nothing left for this fiber to do. Never returns.
  [[noreturn]] void fiber_main() {
    for (;;) {
      const int thread = order[static_cast<std::size_t>(cursor)];
      run[static_cast<std::size_t>(thread)] = Run::ready;
      fiber_of[static_cast<std::size_t>(thread)] = current;
      current->thread = thread;
      try {
        task.body(task.closure, thread);
      } catch (...) {
        fail_with_current(thread, "");
      }
      finish_thread(thread);
    }
  }

  /// Ends the block with the exception that is being handled, if it is a kernel's own.
  void fail_with_current(int thread, const char* where) {
    const std::string who = cat(kernel_and_block(), ", thread ", thread_text(thread), where);
    try {
      throw;
    } catch (const Cancelled&) {
      return;
    } catch (const Error& error) {
      fail(std::make_exception_ptr(Error(error.category(), cat(who, ": ", error.what()))));
    } catch (const std::exception& error) {
      fail(std::make_exception_ptr(Error(Category::kernel, cat(who, " threw: ", error.what()))));
    } catch (...) {
      fail(std::make_exception_ptr(
          Error(Category::kernel, cat(who, " threw something that is no std::exception"))));
    }
    cancel();
  }

  /// In place of std::terminate: the thread's frames cannot be unwound, so they are left behind as
  /// they are, and the block ends.
  [[noreturn]] void terminated() {
    const int thread = current->thread;
    if (std::current_exception() != nullptr) {
      fail_with_current(thread, ", in a noexcept function or a destructor");
    } else if (!cancelled) {
      fail(std::make_exception_ptr(
          Error(Category::kernel, cat(kernel_and_block(), ", thread ", thread_text(thread),
                                      ": std::terminate was called, as when an exception leaves "
                                      "a noexcept function or a destructor"))));
      cancel();
    }
    abandon_thread(thread);
  }

  /// Leaves the running thread in the middle of its frames. The block has failed before.
  [[noreturn]] void abandon_thread(int thread) {
    abandoned = true;
    detail::drop_caught_exceptions();
    finish_thread(thread);
    std::abort();  // a failed block starts no thread, so this fiber has nothing left to run
  }

  /// A thread of a failed block waits for others once more. Returns if it is being unwound and a
  /// destructor waits; a thread that has caught what unwinds it is left behind.
  [[gnu::cold]] void wait_after_failure(int thread) {
    if (exceptions->uncaught == 0) abandon_thread(thread);
  }

  /// Books the end of a thread; returns if this fiber shall run the next unstarted one.
  void finish_thread(int thread) {
    run[static_cast<std::size_t>(thread)] = Run::finished;
    ++finished;
    const int next = pick();
    if (next >= 0 && run[static_cast<std::size_t>(next)] == Run::unstarted) return;
    Fiber* self = current;
    idle.push_back(self);
    Fiber* to = next < 0 ? &main : fiber_of[static_cast<std::size_t>(next)];
    leave(*self, *to);
  }

  /// Each fiber has its own exceptions; nearly always none.
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

  /// The running thread cannot go on now.
  void block() {
    // Nearly always the next thread in order is ready; pick() knows all the other cases.
    const int position = cursor + 1;
    int next = position < threads ? order[static_cast<std::size_t>(position)] : -1;
    if (next >= 0 && run[static_cast<std::size_t>(next)] == Run::ready) cursor = position;
    else next = pick();
    Fiber* self = current;
    Fiber* to = fiber_of[static_cast<std::size_t>(next)];
    if (run[static_cast<std::size_t>(next)] == Run::unstarted) to = take_idle();
    if (to != self) resume(*self, *to);
    if (cancelled) [[unlikely]]
      throw Cancelled{};
  }

  /// Ends the block as it stands: the frame that overflowed may have written into the stacks of
  /// other threads, so nothing on them is run again, not even a destructor.
  [[noreturn]] void overflowed() {
    const Fiber& fiber = *current;
    const auto depth = static_cast<std::size_t>(
        std::max<std::ptrdiff_t>(fiber.stack_low + fiber.stack_bytes - fault_address, 0));
    const std::size_t enough = std::bit_ceil(depth + task.stack_bytes);
    fail(std::make_exception_ptr(Error(
        Category::kernel,
        cat(kernel_and_block(), ", thread ", thread_text(fiber.thread), ": the thread's stack of ",
            fiber.stack_bytes / 1024, " KiB overflowed, with an access ", depth / 1024,
            " KiB deep"),
        {}, {},
        cat("use shared memory, a smaller local array and no deep recursion",
            enough <= kMaxStackBytes
                ? cat(", or declare 'static constexpr std::size_t stack_bytes = ", enough / 1024,
                      " * 1024;' in the kernel")
                : ""))));
    abandoned = true;
    leave(*current, main);
  }
};

BlockScheduler::BlockScheduler() : state_(std::make_unique<State>()) {}
BlockScheduler::~BlockScheduler() = default;

void BlockScheduler::run(const BlockTask& task) {
  State& s = *state_;
  s.begin(task);
  const detail::FaultScope faults({
      .owns =
          [](void* context, const void* address) {
            State& state = *static_cast<State*>(context);
            if (state.current == &state.main || !state.arena->contains(address)) return false;
            state.fault_address = static_cast<const std::byte*>(address);
            return true;
          },
      .stack_top = [](void* context) -> void* {
        const Fiber* fiber = static_cast<State*>(context)->current;
        return fiber->stack_low + fiber->stack_bytes;
      },
      .landing = [](void* context) { static_cast<State*>(context)->overflowed(); },
      .terminated =
          [](void* context) {
            State& state = *static_cast<State*>(context);
            if (state.current != &state.main) state.terminated();
          },
      .context = &s,
  });
  detail::adopt_current_stack(s.main);
  s.exceptions = &detail::current_exceptions();
  s.cursor = 0;
  s.resume(s.main, *s.take_idle());
  if (s.abandoned) {
    for (auto& fiber : s.fibers) detail::release(fiber);
  }
  if (s.failure) std::rethrow_exception(std::exchange(s.failure, nullptr));
}

void BlockScheduler::barrier(int thread, const char* name, Here here) {
  State& s = *state_;
  if (s.cancelled) [[unlikely]]
    return s.wait_after_failure(thread);
  const auto i = static_cast<std::size_t>(thread);
  const Wait wait{here, name};
  s.wait[i] = &wait;
  if (s.arrived == 0) {
    s.first_arrived = thread;
  } else if (!identical(*s.wait[static_cast<std::size_t>(s.first_arrived)], name, here))
      [[unlikely]] {
    s.require_same_barrier("block", "barrier", s.first_arrived, thread, wait);
  }
  s.run[i] = Run::at_barrier;
  ++s.arrived;
  s.block();
}

void BlockScheduler::warp_barrier(int thread, const char* name, Here here) {
  State& s = *state_;
  if (s.cancelled) [[unlikely]]
    return s.wait_after_failure(thread);
  const int warp = thread >> s.warp_shift;
  int& arrived = s.warp_arrived[static_cast<std::size_t>(warp)];
  int& first_lane = s.warp_first[static_cast<std::size_t>(warp)];
  const Wait wait{here, name};
  if (arrived == 0) first_lane = thread;
  else if (!identical(*s.wait[static_cast<std::size_t>(first_lane)], name, here)) [[unlikely]]
    s.require_same_barrier("warp", "warp barrier", first_lane, thread, wait);
  if (++arrived < s.lanes_of(warp)) {
    const auto i = static_cast<std::size_t>(thread);
    s.wait[i] = &wait;
    s.run[i] = Run::at_warp_barrier;
    s.block();
    return;
  }
  arrived = 0;
  const int first = warp << s.warp_shift;
  for (int lane = 0; lane < s.lanes_of(warp); ++lane)
    s.run[static_cast<std::size_t>(first + lane)] = Run::ready;
}

void* BlockScheduler::shared_memory() { return state_->shared.data; }

std::byte* BlockScheduler::exchange(int warp, int turn) {
  const auto half = static_cast<std::size_t>(warp * 2 + turn) << state_->warp_shift;
  return state_->exchange.data + half * kSlotBytes;
}

std::byte* BlockScheduler::warp_scratch(int warp) {
  const int whole = state_->task.warp_size;
  if (const int lanes = state_->lanes_of(warp); lanes < whole) [[unlikely]] {
    throw Error(Category::kernel, "a matrix instruction needs a whole warp", cat(whole, " lanes"),
                cat(lanes), cat("make the block a multiple of ", whole, " threads"));
  }
  return state_->scratch.data + static_cast<std::size_t>(warp) * kWarpScratchBytes;
}

namespace detail {

namespace {
std::mutex stock_mutex;
std::vector<std::unique_ptr<BlockScheduler>>& stock() {
  static auto* schedulers =
      new std::vector<std::unique_ptr<BlockScheduler>>();  // outlives every thread
  return *schedulers;
}
}  // namespace

BorrowedScheduler::BorrowedScheduler() {
  {
    const std::lock_guard lock(stock_mutex);
    if (!stock().empty()) {
      scheduler_ = std::move(stock().back());
      stock().pop_back();
    }
  }
  if (!scheduler_) scheduler_ = std::make_unique<BlockScheduler>();
}

BorrowedScheduler::~BorrowedScheduler() {
  const std::lock_guard lock(stock_mutex);
  stock().push_back(std::move(scheduler_));
}

}  // namespace detail

}  // namespace tessera
