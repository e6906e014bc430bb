// The threads of one block as fibers on one OS thread: which runs next, and which waits where. When
// no thread can run, the waits explain why.
//
// Called through BlockScheduler by launch.hpp and the thread's context.
#include <algorithm>
#include <csignal>
#include <exception>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "simt/fault_scope.hpp"
#include "simt/fiber.hpp"
#include "state.hpp"
#include "tessera/core/error.hpp"
#include "tessera/simt/block_scheduler.hpp"

namespace tessera {

using detail::Fiber;
using detail::Wait;

void BlockScheduler::State::start_fiber(Fiber& fiber) {
  // Different tops keep the frames of neighbouring threads out of each other's cache sets.
  const auto index = static_cast<std::size_t>(&fiber - fibers.data());
  detail::prepare(
      fiber, index * 832 % 4096 / 64 * 64,
      [](void* self) { static_cast<State*>(self)->fiber_main(); }, this);
}

Fiber* BlockScheduler::State::take_idle() {
  Fiber* fiber = idle.back();
  idle.pop_back();
  start_fiber(*fiber);
  return fiber;
}

int BlockScheduler::State::pick() {
  for (;;) {
    if (arrived == threads) {
      if (task.observer != nullptr) {
        const Wait& of_all = *wait[static_cast<std::size_t>(first_arrived)];
        task.observer->block_met(of_all.name, of_all.where, 0);
      }
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
    if (cluster != nullptr && let_others_run()) continue;
    if (machine && carry_out_awaited()) continue;
    if (active_waiting > 0 && release_active()) continue;
    if (!cancelled && arrived > 0 && arrived + finished == threads) {
      const Wait& wait_of_all = *wait[static_cast<std::size_t>(first_arrived)];
      if (task.observer != nullptr
              ? task.observer->block_met(wait_of_all.name, wait_of_all.where, finished)
              : task.residents != nullptr && task.residents->barriers_count_warps()) {
        arrived = 0;
        for (auto& state : run) {
          if (state == Run::at_barrier) state = Run::ready;
        }
        continue;
      }
    }
    if (cluster != nullptr && wait_for_turn()) continue;
    if (machine && !cancelled && carry_out_one()) continue;  // which nobody waits for
    if (!cancelled) fail_stuck();
    cancel();
  }
}

void BlockScheduler::State::fiber_main() {
  for (;;) {
    const int thread = order[static_cast<std::size_t>(cursor)];
    run[static_cast<std::size_t>(thread)] = Run::ready;
    moved = true;
    fiber_of[static_cast<std::size_t>(thread)] = current;
    current->thread = thread;
    try {
      if (task.observer != nullptr) task.observer->runs(thread);
      task.body(task.closure, thread);
    } catch (...) {
      fail_with_current(thread, "");
    }
    if (task.observer != nullptr) task.observer->ends(thread);
    finish_thread(thread);
  }
}

void BlockScheduler::State::finish_thread(int thread) {
  run[static_cast<std::size_t>(thread)] = Run::finished;
  ++finished;
  moved = true;
  if (!collective.empty()) [[unlikely]]
    lane_ended(thread);
  if (cluster != nullptr || !at_cluster.empty()) [[unlikely]]
    meet_cluster();
  const int next = pick();
  if (next >= 0 && run[static_cast<std::size_t>(next)] == Run::unstarted) return;
  Fiber* self = current;
  idle.push_back(self);
  Fiber* to = next < 0 ? &main : fiber_of[static_cast<std::size_t>(next)];
  leave(*self, *to);
}

void BlockScheduler::State::abandon_thread(int thread) {
  abandoned = true;
  detail::drop_caught_exceptions();
  finish_thread(thread);
  std::abort();  // a failed block starts no thread, so this fiber has nothing left to run
}

void BlockScheduler::State::block() {
  // Fast path: the next thread in order is ready; pick() handles all other cases.
  const int position = cursor + 1;
  int next = position < threads ? order[static_cast<std::size_t>(position)] : -1;
  if (next >= 0 && run[static_cast<std::size_t>(next)] == Run::ready) cursor = position;
  else next = pick();
  hand_over(next);
}

void BlockScheduler::State::wait_in_line() { block(); }

void BlockScheduler::State::run_now(int thread) {
  const auto at = order.begin() + thread;  // its position in the usual order
  cursor = static_cast<int>((*at == thread ? at : std::find(order.begin(), order.end(), thread)) -
                            order.begin());
  hand_over(thread);
}

void BlockScheduler::State::hand_over(int next) {
  Fiber* self = current;
  Fiber* to = fiber_of[static_cast<std::size_t>(next)];
  if (run[static_cast<std::size_t>(next)] == Run::unstarted) to = take_idle();
  if (to != self) {
    resume(*self, *to);
    if (task.observer != nullptr) task.observer->runs(self->thread);
  }
  if (cancelled) [[unlikely]]
    throw detail::Cancelled{};
}

BlockScheduler::BlockScheduler() : state_(std::make_unique<State>()) {}
BlockScheduler::~BlockScheduler() = default;

void BlockScheduler::run(const BlockTask& task) {
  State& s = *state_;
  s.begin(task);
  s.go();
  s.end();
  if (s.failure) std::rethrow_exception(std::exchange(s.failure, nullptr));
}

void BlockScheduler::State::go() {
  os_thread = pthread_self();
  const detail::FaultScope faults({
      .owns =
          [](void* context, int signal, const void* address) {
            State& state = *static_cast<State*>(context);
            if (state.current == &state.main) return false;
            const bool is_access = signal == SIGSEGV || signal == SIGBUS;
            const bool overflows = is_access && state.arena->contains(address);
            // Without an observer a kernel crashes like any program, with a core dump.
            if (!overflows && state.task.observer == nullptr) return false;
            state.taken_by = overflows ? Fault::stack : Fault::crash;
            state.fault_address = is_access ? static_cast<const std::byte*>(address) : nullptr;
            state.crash_signal = signal;
            return true;
          },
      .interrupted =
          [](void* context) {
            State& state = *static_cast<State*>(context);
            if (!state.is_stopping()) return detail::FaultHandler::Answer::not_mine;
            if (state.current == &state.main) return detail::FaultHandler::Answer::go_on;
            state.taken_by = Fault::interrupted;
            return detail::FaultHandler::Answer::abandon;
          },
      .stack_top = [](void* context) -> void* {
        const Fiber* fiber = static_cast<State*>(context)->current;
        return fiber->stack_low + fiber->stack_bytes;
      },
      .landing = [](void* context) { static_cast<State*>(context)->taken_off(); },
      .terminated =
          [](void* context) {
            State& state = *static_cast<State*>(context);
            if (state.current != &state.main) state.terminated();
          },
      .context = this,
  });
  detail::adopt_current_stack(main);
  exceptions = &detail::current_exceptions();
  resume(main, suspended != nullptr ? *std::exchange(suspended, nullptr) : *take_idle());
}

void BlockScheduler::State::end() {
  if (task.residents != nullptr) task.residents->go_on(resting());
  if (abandoned) {
    for (auto& fiber : fibers) detail::release(fiber);
  }
  if (machine && !failure) machine->finish();
}

void BlockScheduler::stop() {
  state_->stopping = true;
  pthread_kill(state_->os_thread, SIGSEGV);
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
    s.parted = false;
  } else if (s.parted || !detail::identical(*s.wait[static_cast<std::size_t>(s.first_arrived)],
                                            name, here)) [[unlikely]] {
    s.meet_elsewhere(thread, wait);
  }
  if (s.task.observer != nullptr) s.task.observer->waits(thread, here);
  s.run[i] = State::Run::at_barrier;
  s.moved = true;
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
  else if (!detail::identical(*s.wait[static_cast<std::size_t>(first_lane)], name, here))
      [[unlikely]]
    s.require_same_barrier("warp", "warp barrier", first_lane, thread, wait);
  if (s.task.observer != nullptr) s.task.observer->waits(thread, here);
  s.moved = true;
  if (++arrived < s.lanes_of(warp)) {
    const auto i = static_cast<std::size_t>(thread);
    s.wait[i] = &wait;
    s.run[i] = State::Run::at_warp_barrier;
    s.block();
    return;
  }
  arrived = 0;
  if (s.task.observer != nullptr) s.task.observer->warp_met(warp, name, here);
  const int first = warp << s.warp_shift;
  for (int lane = 0; lane < s.lanes_of(warp); ++lane)
    s.run[static_cast<std::size_t>(first + lane)] = State::Run::ready;
}

void BlockScheduler::give_way(int thread, const Poll& poll) {
  State& s = *state_;
  if (s.cancelled) [[unlikely]] {
    constexpr int kLastPolls = 1 << 16;  // of a destructor that waits while it is unwound
    if (++s.polls_in_round > kLastPolls) s.abandon_thread(thread);
    return s.wait_after_failure(thread);
  }
  if (s.polls.empty()) s.polls.resize(static_cast<std::size_t>(s.threads));
  Poll& last = s.polls[static_cast<std::size_t>(thread)];
  if (last.address != poll.address || last.bits != poll.bits || last.here.line != poll.here.line)
    s.moved = true;
  last = poll;
  // Without an address it is a loop of plain accesses, which may count its iterations: it need not
  // wait forever.
  s.round_may_end = s.round_may_end || poll.address == nullptr;
  if (++s.polls_in_round >= s.round_length) s.quiet_round();
  s.block();
}

bool BlockScheduler::yield(int thread) {
  State& s = *state_;
  if (s.cancelled) return false;
  const int warp = thread >> s.warp_shift, first = warp << s.warp_shift, lanes = s.lanes_of(warp);
  for (int step = 1; step < lanes; ++step) {
    const int next = first + (thread - first + step) % lanes;
    const auto state = s.run[static_cast<std::size_t>(next)];
    if (state != State::Run::ready && state != State::Run::unstarted) continue;
    s.run_now(next);
    return true;
  }
  return true;
}

void* BlockScheduler::shared_memory(std::size_t bytes) {
  const std::size_t have = state_->task.shared_bytes;
  if (bytes > have) [[unlikely]] {
    throw Error(Category::kernel, "shared<S>(t): S is larger than the block's shared storage",
                cat("at most ", have, " bytes"), cat(bytes),
                "name the struct Shared and declare it in the kernel: the launcher reads its size");
  }
  return state_->shared.data;
}

std::byte* BlockScheduler::exchange(int warp, int turn) {
  const auto half = static_cast<std::size_t>(warp * 2 + turn) << state_->warp_shift;
  return state_->exchange.data + half * detail::kSlotBytes;
}

std::byte* BlockScheduler::warp_scratch(int warp) {
  const int whole = state_->task.warp_size;
  if (const int lanes = state_->lanes_of(warp); lanes < whole) [[unlikely]] {
    throw Error(Category::kernel, "a matrix instruction needs a whole warp", cat(whole, " lanes"),
                cat(lanes), cat("make the block a multiple of ", whole, " threads"));
  }
  return state_->scratch.data + static_cast<std::size_t>(warp) * warp_scratch_bytes;
}

namespace detail {

namespace {
std::mutex pool_mutex;
std::vector<std::unique_ptr<BlockScheduler>>& pool() {
  static auto* schedulers =
      new std::vector<std::unique_ptr<BlockScheduler>>();  // outlives every thread
  return *schedulers;
}
}  // namespace

BorrowedScheduler::BorrowedScheduler() {
  {
    const std::lock_guard lock(pool_mutex);
    if (!pool().empty()) {
      scheduler_ = std::move(pool().back());
      pool().pop_back();
    }
  }
  if (!scheduler_) scheduler_ = std::make_unique<BlockScheduler>();
}

BorrowedScheduler::~BorrowedScheduler() {
  const std::lock_guard lock(pool_mutex);
  try {
    pool().push_back(std::move(scheduler_));
  } catch (const std::bad_alloc&) {
    // Without memory for the pool the scheduler is destroyed; the next one is built again, at the
    // cost of time.
  }
}

}  // namespace detail

}  // namespace tessera
