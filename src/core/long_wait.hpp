// How long a thread waits for another one, between looks at what it waits for. Time during which
// it could not look counts for nothing: then it was absent itself, with its whole process mostly
// (SIGSTOP, a debugger, a frozen cgroup) or with its machine. Private to src/core.
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

/// ns: after a longer gap between two looks the thread itself was absent.
constexpr std::int64_t kAbsent = 100'000;
/// ns after which no scheduler lets a thread wait: it, or all of its process, stood still.
constexpr std::int64_t kStoodStill = 20'000'000;

/// Looks are made after the core was offered to others, so not every long time between them is an
/// absence: another thread may have taken the core. That is an involuntary switch of threads and no
/// voluntary one; a thread that is stopped counts a voluntary one.
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

}  // namespace tessera
