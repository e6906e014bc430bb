// How long a thread has polled for another one. Time in which it was not running itself does not
// count: usually its whole process was stopped (SIGSTOP, a debugger, a frozen cgroup), or its
// machine. Private to src/core.
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <cstdint>

namespace tessera {

inline std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Between two polls.
inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// ns: after a longer gap between two polls the thread itself was not running.
constexpr std::int64_t kAbsent = 100'000;
/// ns: no scheduler keeps a ready thread waiting for longer; it, or its whole process, was stopped.
constexpr std::int64_t kStoodStill = 20'000'000;

/// The thread polls after yielding its core, so a long gap is not always an absence: another thread
/// may have taken the core. That counts as an involuntary context switch; a thread that is stopped
/// counts a voluntary one.
class LongWait {
 public:
  void begin() {
    waited_ns_ = 0;
    before_ = switches();
    last_ns_ = now_ns();
  }

  void look() {
    const std::int64_t now = now_ns(), since = now - last_ns_;
    last_ns_ = now;
    if (since < kAbsent || (others_ran() && since < kStoodStill)) waited_ns_ += since;
  }

  std::int64_t waited_ns() const { return waited_ns_; }

 private:
  struct Switches {
    long voluntary, involuntary;
  };
  static Switches switches() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return {usage.ru_nvcsw, usage.ru_nivcsw};
  }
  /// Since begin(), or since the last absence.
  bool others_ran() {
    const Switches before = before_;
    before_ = switches();
    return before_.involuntary > before.involuntary && before_.voluntary == before.voluntary;
  }

  std::int64_t waited_ns_, last_ns_;
  Switches before_;
};

/// A time that ends after `ns` in which this thread was running.
class IdleTime {
 public:
  void begin(std::int64_t ns) { last_ns_ = now_ns(), left_ns_ = ns; }
  bool is_over() {
    const std::int64_t now = now_ns(), since = now - last_ns_;
    last_ns_ = now;
    if (since < kAbsent) left_ns_ -= since;
    return left_ns_ <= 0;
  }

 private:
  std::int64_t last_ns_, left_ns_;
};

}  // namespace tessera
