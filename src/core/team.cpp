// The worker pool of run_team, lock-free on the caller's path: work is posted in one of a few
// slots, and a counter inside each says how many workers are in it. A slot is released only when
// that counter is 0, so a body never outlives its call. team_policy.hpp decides how many workers a
// call uses.
#include "tessera/core/team.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "cores.hpp"
#include "float_state.hpp"
#include "long_wait.hpp"
#include "shared.hpp"
#include "sleeping_place.hpp"
#include "team_policy.hpp"
#include "tessera/core/parallel.hpp"
#include "worker_thread.hpp"

namespace tessera {

namespace {

using namespace team;

constexpr int kMostWorkers = 1023;
constexpr std::int64_t kHeldUp = 100'000;  // ns: shorter waits do not count
constexpr int kPauses = 2000;              // before a wait yields its core

/// One work item that workers may join. state: who is inside (16 bits), how many more may join
/// (16 bits), and whether a caller has it.
struct alignas(64) Slot {
  static constexpr std::uint64_t kInside = 1, kInsideMask = 0xFFFF;
  static constexpr std::uint64_t kRoom = 1 << 16, kRoomMask = 0xFFFFull << 16;
  static constexpr std::uint64_t kTaken = 1ull << 32;
  std::atomic<std::uint64_t> state{0};
  int wanted = 0;
  const TeamBody* body = nullptr;
  FloatState floats{};
  std::atomic<unsigned> flags{0};           ///< floating-point flags that workers raised
  std::int64_t posted_ns = 0;               ///< 0: not noted
  std::atomic<std::int64_t> arrival_ns{0};  ///< time from posting to the first worker that joined
  std::atomic<bool> outlasts{false};  ///< a worker left and went to sleep before the call ended
};

constexpr std::uint64_t room_for(int workers) {
  return static_cast<std::uint64_t>(workers) * Slot::kRoom;
}

/// The slots, and what the policy knows.
struct Pool {
  std::array<Slot, 16> slots;
  alignas(64) std::atomic<std::uint32_t> posts{0};  // changes when work is posted
  std::atomic<bool> waking{false};                  // workers were woken and none has joined since
  alignas(64) std::atomic<int> sleeping{0};
  std::atomic<int> workers{0};
  alignas(64) std::atomic<int> callers{0};
  Shared<Limit> limit;
  std::atomic<std::int64_t> gained_ns{0};  // see gained()
  Shared<Requests> requests;
  std::atomic<int> callers_core{-1};  // core from which workers were last woken or given work
  std::atomic<SleepingPlace*> places{nullptr};  // of all workers
  alignas(64) Shared<Arrival> arrival;
  std::atomic<bool> knows_cores{false};  // of the process: see workers_would_join
  std::mutex starting;
};

int forks = 0;  ///< forks since the pool was created

/// Never destroyed: workers may read it until the process ends.
Pool& pool() {
  alignas(Pool) static char memory[sizeof(Pool)];
  static Pool* const made = [] {
    Pool* p = new (memory) Pool;
    // The child of a fork has only the forking thread, so the workers' state is reset.
    pthread_atfork(nullptr, nullptr, [] {
      new (&pool()) Pool;
      ++forks;
    });
    return p;
  }();
  return *made;
}

thread_local bool inside = false;
thread_local std::int64_t calls_alone =
    0;  ///< calls of this thread without workers since it last dropped the measured cost
thread_local LongWait long_wait;
thread_local std::int64_t held_up_ns = 0;
thread_local bool only_predicts = false;  ///< see PredictOnly

bool always_uses_workers = false;  ///< set before there are threads

/// Joins one posted call, if there is any; returns it or null.
Slot* join(Pool& p) {
  for (Slot& slot : p.slots) {
    std::uint64_t seen = slot.state.load(std::memory_order_acquire);
    while ((seen & Slot::kRoomMask) != 0) {
      if (!slot.state.compare_exchange_weak(seen, seen - Slot::kRoom + Slot::kInside,
                                            std::memory_order_acq_rel))
        continue;
      const int room = static_cast<int>((seen & Slot::kRoomMask) / Slot::kRoom);
      if (slot.posted_ns != 0) {  // if two join at once, either may count as the first
        const std::int64_t arrival = now_ns() - slot.posted_ns;
        if (arrival < slot.arrival_ns.load(std::memory_order_relaxed))
          slot.arrival_ns.store(arrival, std::memory_order_relaxed);
      }
      if (p.waking.load(std::memory_order_relaxed))
        p.waking.store(false, std::memory_order_relaxed);
      inside = true;
      set_float_state(slot.floats);
      (*slot.body)(slot.wanted - room + 1);
      inside = false;
      const unsigned flags = float_flags(float_state());
      if ((flags & ~float_flags(slot.floats)) != 0)
        slot.flags.fetch_or(flags, std::memory_order_relaxed);
      slot.state.fetch_sub(Slot::kInside, std::memory_order_release);
      return &slot;
    }
  }
  return nullptr;
}

/// Keeps sleeping workers off this core, and records the core that they are woken from.
void move_off_this_core(Pool& p) {
  const int core = sched_getcpu();
  p.callers_core.store(core, std::memory_order_relaxed);
  for (auto* place = p.places.load(std::memory_order_acquire); place != nullptr;
       place = place->next)
    place->move_off(core);
}

/// Sleeps until work is posted. Returns whether it woke on its caller's core, because the caller
/// has moved to the cores left to it.
bool sleep(Pool& p, SleepingPlace& place, std::uint32_t seen) {
  place.sleeps(p.callers_core.load(std::memory_order_relaxed));
  p.posts.wait(seen);
  const int core = sched_getcpu();
  return place.wakes() && core == p.callers_core.load(std::memory_order_relaxed);
}

void run_worker(Pool& p) {  // starts in the state of a woken sleeper
  SleepingPlace place;
  for (place.next = p.places.load(); !p.places.compare_exchange_weak(place.next, &place);) {
  }
  p.sleeping.fetch_sub(1);
  std::uint32_t seen = p.posts.load();
  IdleTime idle;
  idle.begin(kSpin);
  bool woken = true;  // woken from another core, and has joined nothing since
  for (Slot* last = nullptr;;) {
    if (Slot* const joined = join(p)) {
      last = joined, woken = false;
      idle.begin(kSpin);
      continue;
    }
    for (int i = 0; i < 64 && p.posts.load(std::memory_order_relaxed) == seen; ++i) pause();
    const bool is_over = idle.is_over();
    if (const std::uint32_t posts = p.posts.load(); posts != seen) {
      seen = posts;
      continue;
    }
    if (!is_over) continue;
    p.waking = false;
    if (woken) {
      Requests requests = p.requests.load();
      requests.wake_after_ns = wake_after_idling(now_ns());
      p.requests.store(requests);
    }
    if (last != nullptr && last->state.load(std::memory_order_relaxed) != 0) last->outlasts = true;
    last = nullptr;
    p.sleeping.fetch_add(1);
    woken = !sleep(p, place, seen);
    p.sleeping.fetch_sub(1);
    idle.begin(kSpin);
  }
}

/// Starts workers until there are `wanted`, or the system refuses.
void start_workers(Pool& p, int wanted) {
  std::unique_lock lock(p.starting, std::try_to_lock);
  if (!lock) return;  // another caller is starting them
  while (p.workers.load() < wanted) {
    p.sleeping.fetch_add(1);
    p.workers.fetch_add(1);
    if (!start_thread([](void* pool) { run_worker(*static_cast<Pool*>(pool)); }, &p)) {
      p.workers.fetch_sub(1);
      p.sleeping.fetch_sub(1);
      break;
    }
  }
}

/// The callers of this process. With one caller per core, none gets a worker.
int cores() {
  static const int found = available_cores();
  return found;
}

/// Counts a call that found too few workers awake. Returns whether starting or waking some pays
/// off.
bool worth_waking(Pool& p, std::int64_t expected_ns) {
  if (expected_ns >= kWorthStarting) return true;
  const bool has_workers = p.workers.load(std::memory_order_relaxed) > 0;
  const Wakes found = wakes(p.requests.load(), now_ns(), expected_ns, has_workers);
  if (!only_predicts) p.requests.store(found.next);
  return found.pays;
}

int awake(const Pool& p) {
  return p.workers.load(std::memory_order_relaxed) - p.sleeping.load(std::memory_order_relaxed);
}

/// Will workers join work that is posted now? Starts and wakes them where that pays off. Workers
/// woken for small work may arrive too late; it is posted anyway, because it may take longer than
/// estimated, and workers that never find any would sleep for good.
/// Measured: bench/results/cpu/tuning.md.
bool call_workers(Pool& p, int wanted, std::int64_t expected_ns) {
  const int up = awake(p);
  if (up >= wanted) return true;
  const bool wakes = worth_waking(p, expected_ns);
  if (wakes && !only_predicts) {
    if (p.workers.load(std::memory_order_relaxed) < wanted) start_workers(p, wanted);
    const int asleep = p.sleeping.load();
    if (asleep > 0 && !p.waking.exchange(true)) {
      move_off_this_core(p);
      p.posts.fetch_add(1);
      if (asleep <= wanted - up) p.posts.notify_all();
      else
        for (int i = up; i < wanted; ++i) p.posts.notify_one();
    }
  }
  return up > 0 || wakes;
}

/// Is there enough work to use workers that are awake?
bool worth_using_workers(Pool& p, std::int64_t expected_ns) {
  if (Arrival::never_pays(expected_ns)) return false;
  const Arrival arrival = p.arrival.load();
  if (arrival.pays(expected_ns)) return true;
  if (only_predicts) return calls_alone + 1 >= arrival.patience;
  if (++calls_alone < arrival.patience) return false;
  calls_alone = 0;
  p.arrival.store(arrival.forgotten());
  return true;
}

/// How many workers to use.
int wanted_workers(Pool& p, int threads, std::int64_t expected_ns) {
  if (!worth_using_workers(p, expected_ns)) return 0;
  const int most = std::min(useful_threads(threads) - 1, kMostWorkers);
  Limit limit = p.limit.load();
  if (!limit.concerns(expected_ns)) return most;
  if (limit.holds(now_ns())) return static_cast<int>(std::min<std::int64_t>(most, limit.workers));
  limit.until_ns = 0;
  p.limit.store(limit);
  return most;
}

/// Called after a call that workers joined.
void learn_cost(Pool& p, int requested, std::int64_t expected_ns) {
  const std::int64_t before = p.gained_ns.load(std::memory_order_relaxed);
  const std::int64_t gain = gained(before, p.arrival.load(), expected_ns, held_up_ns);
  if (gain < 0 && !always_uses_workers)
    p.limit.store(p.limit.load().after(now_ns(), requested / 2, held_up_ns));
  p.gained_ns.store(kept_gain(gain), std::memory_order_relaxed);
}

/// A free slot, now the caller's; null if all are taken.
Slot* take_slot(Pool& p) {
  for (Slot& slot : p.slots) {
    std::uint64_t free = 0;
    if (slot.state.load(std::memory_order_relaxed) == 0 &&
        slot.state.compare_exchange_strong(free, Slot::kTaken))
      return &slot;
  }
  return nullptr;
}

/// Opens the slot to `wanted` workers. times: only calls whose workers were idle show how soon
/// workers join.
void post(Pool& p, Slot& slot, const TeamBody& body, int wanted, bool times) {
  slot.body = &body;
  slot.wanted = wanted;
  slot.floats = float_state();
  slot.flags.store(0, std::memory_order_relaxed);
  slot.posted_ns = times ? now_ns() : 0;
  slot.outlasts.store(false, std::memory_order_relaxed);
  slot.arrival_ns.store(Arrival::kMost, std::memory_order_relaxed);
  slot.state.store(Slot::kTaken + room_for(wanted), std::memory_order_release);
  p.posts.fetch_add(1);
  const int core = sched_getcpu();
  if (core != p.callers_core.load(std::memory_order_relaxed))
    p.callers_core.store(core, std::memory_order_relaxed);
}

/// Closes the slot, waits for the workers inside, learns from them and gives the slot back.
void finish(Pool& p, Slot& slot, int wanted, std::int64_t expected_ns) {
  const std::uint64_t left = slot.state.fetch_and(~Slot::kRoomMask, std::memory_order_acq_rel);
  wait_for_team(
      [&] { return (slot.state.load(std::memory_order_acquire) & Slot::kInsideMask) == 0; });
  if (const unsigned flags = slot.flags.load(std::memory_order_relaxed); flags != 0)
    add_float_flags(flags);
  if (slot.posted_ns != 0) {
    if (!Arrival::always_pays(expected_ns))
      p.arrival.store(p.arrival.load().after(slot.arrival_ns.load(std::memory_order_relaxed)));
    // Was this thread preempted because workers displaced another process onto its core?
    if (slot.outlasts.load(std::memory_order_relaxed))
      held_up_ns = std::max(held_up_ns, displaced(now_ns() - slot.posted_ns, expected_ns));
  }
  slot.state.store(0, std::memory_order_release);
  if ((left & Slot::kRoomMask) != room_for(wanted)) learn_cost(p, wanted, expected_ns);
}

}  // namespace

void relax(int spins) {
  if (spins < kPauses) return pause();
  if (spins == kPauses) long_wait.begin();
  std::this_thread::yield();
  long_wait.look();
}

void waited(int spins) {
  if (spins <= kPauses) return;
  if (long_wait.waited_ns() > kHeldUp) held_up_ns += long_wait.waited_ns();
}

int useful_threads(int threads) {
  // Two threads also on one core: the measured cost decides whether that stays.
  return threads <= 2 || always_uses_workers ? threads : std::min(threads, std::max(2, cores()));
}

bool workers_would_join(int threads, std::int64_t expected_ns) {
  if (threads == 1 || inside) return false;
  Pool& p = pool();
  // The first calls use no workers and so need not count cores, which reads files.
  const bool knows = p.knows_cores.load(std::memory_order_relaxed);
  if (!knows && (!worth_using_workers(p, expected_ns) || !worth_waking(p, expected_ns)))
    return false;
  if (!only_predicts) p.knows_cores.store(true, std::memory_order_relaxed);
  threads = useful_threads(threads > 0 ? threads : default_threads());
  if (threads <= 1) return false;
  const int wanted = wanted_workers(p, threads, expected_ns);
  return wanted > 0 && call_workers(p, 1, expected_ns);  // run_team decides how many it needs
}

PredictOnly::PredictOnly() : before_(std::exchange(only_predicts, true)) {}
PredictOnly::~PredictOnly() { only_predicts = before_; }

void always_use_workers() { always_uses_workers = true; }

void run_team(int threads, std::int64_t expected_ns, TeamBody body) {
  if (threads <= 1 || inside) return body(0);
  Pool& p = pool();
  const int wanted = wanted_workers(p, threads, expected_ns);
  if (wanted == 0) return body(0);
  p.knows_cores.store(true, std::memory_order_relaxed);
  const int callers = p.callers.fetch_add(1, std::memory_order_relaxed);
  const bool has_room = callers == 0 || callers + 1 < cores();
  Slot* const mine = has_room && call_workers(p, wanted, expected_ns) ? take_slot(p) : nullptr;
  if (mine != nullptr) post(p, *mine, body, wanted, awake(p) >= wanted && callers == 0);
  held_up_ns = 0;
  const int forks_before = forks;
  inside = true;
  body(0);
  inside = false;
  if (forks != forks_before) return;  // the body forked: the child's pool does not know this call
  if (mine != nullptr) finish(p, *mine, wanted, expected_ns);
  p.callers.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace tessera
