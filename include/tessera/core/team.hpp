// The threads of this process that help with a product. The caller always works; workers join if
// and when they come, and are locked out once the caller finds nothing left to hand out. So a
// call never takes longer with workers than the work items they hold, wherever they sleep.
//
// Workers start at the first large work item, spin for some 200 us after the last one,
// then sleep. A caller with little work does not wake them: waking costs it more than they save. It
// wakes them when such calls follow each other closely. With less work than handing it over takes,
// which is measured as it goes, a caller works alone. Where workers hold callers up for longer than
// they save, because other processes have their cores, callers ask fewer of them for a while.
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

/// One step of a wait: a pause, or after some microseconds of them the core for somebody else.
void relax(int spins);

/// The end of a wait of so many steps: if it was long, callers learn from it what workers cost.
void waited(int spins);

/// As many as this process has cores, if `threads` are more, but two at least: those beyond take
/// turns with the others and with the caller. Counts cores once, if more than two are asked for.
int useful_threads(int threads);

/// Runs body(0) here and body(1), body(2), ... on up to useful_threads(threads) - 1 workers, at the
/// same time; returns when all that began have returned. A body takes work items until
/// none is left, must be right when it runs alone, and throws nothing. `expected_ns`: how long the
/// whole work takes one thread, roughly; decides whether workers are worth asking, and those asleep
/// worth waking, and is what sharing is taken to halve when workers hold callers up.
void run_team(int threads, std::int64_t expected_ns, TeamBody body);

/// Would run_team with these arguments be helped now? For work that is simpler to do alone. Counts
/// as a wish for help, as run_team does: wishes that follow each other closely wake workers.
/// threads = 0: default_threads(). Neither these nor cores are counted before that.
bool will_be_helped(int threads, std::int64_t expected_ns);

/// While one exists, will_be_helped counts and wakes nothing in this thread: it says what the next
/// call will find. For reports of what a call is going to do.
class OnlyAsking {
 public:
  OnlyAsking();
  ~OnlyAsking();
  OnlyAsking(const OnlyAsking&) = delete;
  OnlyAsking& operator=(const OnlyAsking&) = delete;

 private:
  bool before_;
};

/// From now on asks workers for much work whatever they cost and however few cores there are. For
/// tests.
void always_ask_workers();

/// a * b * c, for estimates of work: so bounded that two of them can be added. In whole numbers: a
/// product of numbers that are exact raises no floating-point exception, and its estimate should
/// not either.
inline std::int64_t bounded_product(index_t a, index_t b, index_t c) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 4;
  std::int64_t work;
  if (__builtin_mul_overflow(a, b, &work) || __builtin_mul_overflow(work, c, &work)) return most;
  return std::min(work, most);
}

/// Waits for a member of the team: spins, then gives the core away between looks.
template <class Done>
void wait_for_team(Done done) {
  int spins = 0;
  for (; !done(); spins = std::min(spins + 1, 1 << 30)) relax(spins);
  waited(spins);
}

}  // namespace tessera
