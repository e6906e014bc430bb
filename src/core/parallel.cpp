// How many cores a process may use, from the affinity mask, the cgroup's quota and the environment;
// and parallel_for on top of the team. An exception of one work item ends the others at their
// next step and is thrown to the caller, once.
#include "tessera/core/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>

#include "base/cgroup.hpp"
#include "cores.hpp"
#include "tessera/core/team.hpp"
#include "tessera/core/text.hpp"

namespace tessera {

namespace {

/// A positive thread count from the environment, or 0. Complains once for each variable.
int threads_from(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return 0;
  int value = 0;
  const char *begin = text, *end = text + std::strlen(text);
  while (*begin == ' ') ++begin;
  while (end > begin && end[-1] == ' ') --end;
  const auto [stop, error] = std::from_chars(begin, end, value);
  // OMP_NUM_THREADS may be a list, one number for each nesting level: the first counts.
  const bool is_list = std::strcmp(variable, "OMP_NUM_THREADS") == 0;
  const bool whole = stop == end || (is_list && *stop == ',');
  if (error == std::errc{} && whole && value >= 1 && value <= kMostThreads) return value;
  std::fprintf(stderr, "tessera: ignoring %s='%s': expected a whole number from 1 to %d\n",
               variable, printable(text).c_str(), kMostThreads);
  return 0;
}

}  // namespace

int available_cores() {
  const cpu_set_t set = allowed_cores();
  int cores = CPU_COUNT(&set);
  if (cores < 1) cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  static const double quota =
      [] {  // keep the caller's floating-point flags free of these roundings
        std::fenv_t callers;
        std::feholdexcept(&callers);
        const double found = cgroup_cpu_quota();
        std::fesetenv(&callers);
        return found;
      }();
  return quota > 0 ? std::min(cores, std::max(1, static_cast<int>(quota + 0.5))) : cores;
}

int asked_threads() {
  static const int threads = [] {
    const int own = threads_from("TESSERA_NUM_THREADS");
    return own > 0 ? own : threads_from("OMP_NUM_THREADS");
  }();
  return threads;
}

int default_threads() {
  static const int threads = asked_threads() > 0 ? asked_threads() : available_cores();
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
  // A work item is a whole block or band: always worth waking workers.
  constexpr std::int64_t long_enough_ns = 1'000'000'000;
  run_team(threads, long_enough_ns, [&](int) { work(); });
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tessera
