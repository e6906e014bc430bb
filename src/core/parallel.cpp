// How many cores a process may use, from the affinity mask, the cgroup's quota and the environment;
// and parallel_for on top of the team. An exception of one piece of work ends the others at their
// next step and is thrown to the caller, once.
#include "tessera/core/parallel.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>

#include "tessera/core/team.hpp"

namespace tessera {

namespace {

/// The beginning of a small file as text; false where it cannot be read. With plain calls: the
/// first product of a process waits for it, and streams would take 60 us more.
template <std::size_t N>
bool read_start(const char* path, char (&text)[N]) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t count = read(file, text, N - 1);
  close(file);
  text[std::max<ssize_t>(count, 0)] = '\0';
  return count > 0;
}

/// Cores granted by a cgroup quota, or a large number where there is none. Reads cgroup v2, then
/// v1.
int cgroup_cores() {
  char text[64];
  long quota = 0, period = 0;  // microseconds; "max" and -1 are no quota
  if (read_start("/sys/fs/cgroup/cpu.max", text)) {
    char* rest = text;
    quota = std::strtol(text, &rest, 10);
    period = std::strtol(rest, nullptr, 10);
  } else if (read_start("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", text)) {
    quota = std::strtol(text, nullptr, 10);
    if (quota > 0 && read_start("/sys/fs/cgroup/cpu/cpu.cfs_period_us", text))
      period = std::strtol(text, nullptr, 10);
  }
  if (quota <= 0 || period <= 0) return 1 << 20;
  return static_cast<int>(std::max(1l, (quota + period / 2) / period));
}

/// A positive thread count from the environment, or 0. Complains once for each variable.
int threads_from(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return 0;
  int value = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, value);
  // OMP_NUM_THREADS may be a list, one number for each nesting level: the first counts.
  const bool whole = stop == end || *stop == ',';
  if (error == std::errc{} && whole && value >= 1 && value <= 4096) return value;
  std::fprintf(stderr, "tessera: ignoring %s='%s': expected a whole number from 1 to 4096\n",
               variable, text);
  return 0;
}

}  // namespace

int available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int cores = 0;
  if (sched_getaffinity(0, sizeof set, &set) == 0) cores = CPU_COUNT(&set);
  if (cores < 1) cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return std::min(cores, cgroup_cores());
}

int default_threads() {
  static const int threads = [] {
    if (const int own = threads_from("TESSERA_NUM_THREADS")) return own;
    if (const int omp = threads_from("OMP_NUM_THREADS")) return omp;
    return available_cores();
  }();
  return threads;
}

void parallel_for(index_t count, int threads, const std::function<void(index_t)>& body) {
  if (threads <= 0) threads = default_threads();
  threads = static_cast<int>(std::min<index_t>(threads, count));
  std::atomic<index_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto work = [&] {
    for (index_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) {
      try {
        body(i);
      } catch (...) {
        const std::lock_guard lock(failure_mutex);
        if (!failure) failure = std::current_exception();
        next.store(count, std::memory_order_relaxed);
      }
    }
  };
  constexpr double long_enough_us = 1e6;  // a block or a band of rows: worth waking everybody
  run_team(threads, long_enough_us, [&](int) { work(); });
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tessera
