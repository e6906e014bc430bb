// The threads of this process that help with a product. The caller always works; workers join when
// they arrive, and cannot join any more once no work item is left. So a caller waits at most for
// the work items that workers hold, never for a worker to wake.
//
// Workers start at the first large work item, spin for a while after the last one, then sleep. A
// caller with little work does not wake them: waking costs it more than they save. It wakes them
// when such calls follow each other closely. Where handing work over would take longer than the
// work itself (the cost is measured as the process runs), the caller works alone. Where workers
// delay callers more than they help, because other processes use their cores, callers use fewer
// workers for a while.
//
// A forked child starts with no workers and gets its own. Calls from inside a body, and callers
// that fill the cores among themselves, run alone. Workers are never joined: they hold nothing
// between calls.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>

#include "tessera/core/config.hpp"

namespace tessera {

/// A callable body(worker) that outlives the call it is passed to.
class TeamBody {
 public:
  template <class Body>
  requires(!std::is_same_v<std::remove_cvref_t<Body>, TeamBody>)
      TeamBody(const Body& body)  // NOLINT(google-explicit-constructor)
      : object_(std::addressof(body)),
        call_([](const void* object, int worker) { (*static_cast<const Body*>(object))(worker); }) {
  }
  void operator()(int worker) const { call_(object_, worker); }

 private:
  const void* object_;
  void (*call_)(const void*, int);
};

/// One step of a wait: a pause instruction; after some microseconds, a yield of the core.
void relax(int spins);

/// Reports the end of a wait of that many steps; a long one counts towards the cost of workers.
void waited(int spins);

/// min(threads, cores of this process), but at least 2: more threads than cores would only share
/// them. Counts the cores once, if more than two threads are requested.
int useful_threads(int threads);

/// Runs body(0) here and body(1), body(2), ... on up to useful_threads(threads) - 1 workers, at the
/// same time; returns when all that began have returned. A body takes work items until none is
/// left, must be right when it runs alone, and throws nothing. `expected_ns`: the rough time of the
/// whole work on one thread; decides whether it pays to use workers and to wake sleeping ones. When
/// workers delay callers, sharing is assumed to halve this time.
void run_team(int threads, std::int64_t expected_ns, TeamBody body);

/// Would workers join run_team with these arguments now? For work that has a simpler
/// single-threaded form. Counts as a request for workers, as run_team does: requests in quick
/// succession wake workers. threads = 0: default_threads(), which is only then determined.
bool workers_would_join(int threads, std::int64_t expected_ns);

/// While such an object exists, workers_would_join in this thread only predicts: it neither counts
/// as a request nor wakes workers. For reports of what a call is going to do.
class PredictOnly {
 public:
  PredictOnly();
  ~PredictOnly();
  PredictOnly(const PredictOnly&) = delete;
  PredictOnly& operator=(const PredictOnly&) = delete;

 private:
  bool before_;
};

/// From now on large work uses workers at any cost, on any number of cores. For
/// tests.
void always_use_workers();

/// a * b * c, for estimates of work, saturated so that two of them can be added. Integers, so that
/// the estimate raises no floating-point exception.
inline std::int64_t bounded_product(index_t a, index_t b, index_t c) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 4;
  std::int64_t work;
  if (__builtin_mul_overflow(a, b, &work) || __builtin_mul_overflow(work, c, &work)) return most;
  return std::min(work, most);
}

/// Waits for a member of the team: spins, then yields the core between polls.
template <class Done>
void wait_for_team(Done done) {
  int spins = 0;
  for (; !done(); spins = std::min(spins + 1, 1 << 30)) relax(spins);
  waited(spins);
}

}  // namespace tessera
