// Keeps a sleeping worker off its caller's core. Some Linux kernels wake a thread on the waker's
// core although others are idle; there it waits until the caller is done or the load balancer runs,
// milliseconds later. Private to src/core.
//
// The worker excludes its caller's last core before it sleeps, when no one waits for it. A caller
// that wakes it from another core first updates the mask.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <atomic>

namespace tessera {

/// The affinity mask of a thread (0: this one); empty if it cannot be read.
inline cpu_set_t affinity_of(pid_t thread) {
  cpu_set_t out;
  CPU_ZERO(&out);
  sched_getaffinity(thread, sizeof out, &out);
  return out;
}

/// For one worker, which calls sleeps() and wakes() alternately.
class SleepingPlace {
 public:
  /// Keeps the worker off a core until wakes().
  void sleeps(int core) {
    if (state_.load(std::memory_order_acquire) != State::awake)
      return;  // a caller is still changing the mask
    all_ = affinity_of(0), first_ = affinity_of(getpid());
    off_.store(-1, std::memory_order_relaxed);
    keep_off(core, 0, all_);
    state_.store(State::asleep, std::memory_order_release);
  }

  /// Was the worker kept off a core while it slept?
  bool wakes() {
    for (State seen = state_.load(std::memory_order_acquire);;) {
      if (seen == State::asleep) {
        if (!state_.compare_exchange_weak(seen, State::awake, std::memory_order_acq_rel)) continue;
        const bool was_kept = off_.load(std::memory_order_relaxed) >= 0;
        give_back(0);
        return was_kept;
      }
      if (seen != State::moved) return false;
      if (state_.compare_exchange_weak(seen, State::left, std::memory_order_acq_rel)) return true;
    }
  }

  /// Called by a caller on this core that is about to wake the worker.
  void move_off(int core) {
    if (off_.load(std::memory_order_relaxed) == core) return;
    State seen = State::asleep;
    if (!state_.compare_exchange_strong(seen, State::moved, std::memory_order_acq_rel)) return;
    keep_off(core, thread_, off_.load(std::memory_order_relaxed) < 0 ? all_ : kept_);
    seen = State::moved;
    if (state_.compare_exchange_strong(seen, State::asleep, std::memory_order_acq_rel)) return;
    give_back(thread_);  // the worker woke and found the caller changing the mask
    state_.store(State::awake, std::memory_order_release);
  }

  SleepingPlace* next = nullptr;  ///< of another worker

 private:
  enum class State { awake, asleep, moved, left };

  /// Has nothing else changed the affinity of the worker or of the main thread since? A change for
  /// the whole process may equal the mask set here.
  bool is_as_left(pid_t thread, const cpu_set_t& left) const {
    const cpu_set_t now = affinity_of(thread), first = affinity_of(getpid());
    return CPU_EQUAL(&now, &left) && CPU_EQUAL(&first, &first_);
  }

  void keep_off(int core, pid_t thread, const cpu_set_t& now) {
    if (core < 0 || core >= CPU_SETSIZE) return;
    cpu_set_t others = all_;
    CPU_CLR(core, &others);
    if (CPU_COUNT(&others) == 0 || !is_as_left(thread, now)) return;
    if (sched_setaffinity(thread, sizeof others, &others) != 0) return;
    kept_ = others;
    off_.store(core, std::memory_order_relaxed);
  }

  void give_back(pid_t thread) {
    if (off_.load(std::memory_order_relaxed) >= 0 && is_as_left(thread, kept_))
      sched_setaffinity(thread, sizeof all_, &all_);
    off_.store(-1, std::memory_order_relaxed);
  }

  const pid_t thread_ = gettid();
  std::atomic<State> state_{State::awake};
  std::atomic<int> off_{-1};  ///< the excluded core
  cpu_set_t all_, kept_, first_;
};

}  // namespace tessera
