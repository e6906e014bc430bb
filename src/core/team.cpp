// The worker pool of run_team, lock-free on the caller's path: work is posted in one of a
// few slots, and a counter inside each says how many workers are in it. A slot is released only
// when that counter is 0, so a body never outlives its call.
// Over 400 lines: posting, waiting and leaving are one protocol on the same slots.
#include "tessera/core/team.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

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
#include "sleeping_place.hpp"
#include "tessera/core/parallel.hpp"

// From sanitizer/lsan_interface.h; null without the leak sanitizer.
extern "C" {
[[gnu::weak]] void __lsan_disable();
[[gnu::weak]] void __lsan_enable();
}

namespace tessera {

namespace {

/// ns of single-threaded work. Waking a sleeper costs the caller some time, and the sleeper takes
/// as long again to arrive; starting a thread costs more. Measured: bench/results/cpu/tuning.md.
constexpr std::int64_t kWorthWaking = 100'000, kWorthStarting = 250'000;
constexpr std::int64_t kSpin = 200'000;  // ns that an idle worker stays awake
/// ns between calls that request workers, added to four times their expected time: some processors
/// do a quarter of the work per cycle. Measured: bench/results/cpu/tuning.md.
constexpr std::int64_t kCloselyFollowing = 300'000;
constexpr int kCallsToWake = 3;
constexpr int kMostWorkers = 1023;

/// A spinning worker joins some time after work is posted; transferring its operands and results
/// between caches costs the caller several times that. Measured:
/// bench/results/cpu/tuning.md.
constexpr std::int64_t kArrivalsWorthCalling = 18;
constexpr std::int64_t kLeastArrival = 60, kMostArrival = 1000;  // ns
/// After this many calls that did not use workers, their measured cost is forgotten, because
/// threads move between cores. The number doubles each time that this gains nothing.
constexpr int kLeastPatience = 256, kMostPatience = 1 << 14;

/// A worker that waits for its core while it holds a work item, because another process has the
/// core, holds its caller up for milliseconds. Where that costs more than threading has gained
/// lately, callers use half as many workers, in the end none, for so long that such events cost
/// some 2 % of the time; but not for work where threading saves more than an event costs. Workers
/// that woke and found no work are not woken for small work during the same time.
constexpr std::int64_t kRepaid = 50;
constexpr std::int64_t kHeldUp = 100'000;          // ns: shorter waits do not count
constexpr std::int64_t kMostCost = kStoodStill;    // of one event
constexpr std::int64_t kMostGained = 200'000'000;  // so that old gains do not count
constexpr int kPauses = 2000;                      // before a wait yields its core

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

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

struct Pool {
  std::array<Slot, 16> slots;
  alignas(64) std::atomic<std::uint32_t> posts{0};  // changes when work is posted
  std::atomic<bool> waking{false};                  // workers were woken and none has joined since
  alignas(64) std::atomic<int> sleeping{0};
  std::atomic<int> workers{0};
  alignas(64) std::atomic<int> callers{0};
  std::atomic<std::int64_t> gained_ns{0};  // recent gain of threading, less the cost of workers
  std::atomic<std::int64_t> limited_until_ns{0};  // fewer workers are used until then; 0: no limit
  std::atomic<std::int64_t> cost_ns{0};           // cost of the event that set the limit
  std::atomic<int> limit{0};
  std::atomic<std::int64_t> wake_after_ns{0};  // no worker is woken for small work until then
  std::atomic<std::int64_t> last_request_ns{0};
  std::atomic<int> requests{0};       // calls in quick succession that found no worker awake
  std::atomic<int> callers_core{-1};  // core from which workers were last woken or given work
  std::atomic<SleepingPlace*> places{nullptr};                      // of all workers
  alignas(64) std::atomic<std::int64_t> arrival_ns{kLeastArrival};  // of an awake worker
  std::atomic<int> patience{kLeastPatience};
  std::atomic<bool> knows_cores{false};  // of the process: see will_be_helped
  std::mutex starting;
};

int forks = 0;  ///< forks since the pool was created

/// Never destroyed: workers may look at it until the process ends.
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
thread_local int calls_alone = 0;  ///< calls of this thread that did not ask, since it last forgot
thread_local LongWait long_wait;
thread_local std::int64_t held_up_ns = 0;
thread_local bool only_asks = false;  ///< see OnlyAsking

bool always_ask = false;  ///< set before there are threads

/// From now on callers use at most `limit` workers, until that has made up for the cost of more.
void take_fewer(Pool& p, int limit, std::int64_t cost_ns) {
  if (always_ask) return;
  const std::int64_t now = now_ns(), cost = std::min(cost_ns, kMostCost);
  const bool limited = now < p.limited_until_ns.load(std::memory_order_relaxed);
  const auto most = [limited](auto& known, auto value) {
    if (!limited || known.load(std::memory_order_relaxed) < value)
      known.store(value, std::memory_order_relaxed);
  };
  if (!limited || limit < p.limit.load(std::memory_order_relaxed))
    p.limit.store(limit, std::memory_order_relaxed);
  most(p.cost_ns, cost);
  most(p.limited_until_ns, now + kRepaid * cost);
}

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

/// How long a worker has been idle, without the time in which it was not running.
class IdleTime {
 public:
  void begin() { last_ns_ = now_ns(), left_ns_ = kSpin; }
  bool is_over() {
    const std::int64_t now = now_ns(), since = now - last_ns_;
    last_ns_ = now;
    if (since < kAbsent) left_ns_ -= since;
    return left_ns_ <= 0;
  }

 private:
  std::int64_t last_ns_, left_ns_;
};

void run_worker(Pool& p) {  // starts in the state of a woken sleeper
  SleepingPlace place;
  for (place.next = p.places.load(); !p.places.compare_exchange_weak(place.next, &place);) {
  }
  p.sleeping.fetch_sub(1);
  std::uint32_t seen = p.posts.load();
  IdleTime idle;
  idle.begin();
  bool woken = true;  // woken from another core, and has joined nothing since
  for (Slot* last = nullptr;;) {
    if (Slot* const joined = join(p)) {
      last = joined, woken = false;
      idle.begin();
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
    if (woken) p.wake_after_ns = now_ns() + kRepaid * kSpin;
    if (last != nullptr && last->state.load(std::memory_order_relaxed) != 0) last->outlasts = true;
    last = nullptr;
    p.sleeping.fetch_add(1);
    woken = !sleep(p, place, seen);
    p.sleeping.fetch_sub(1);
    idle.begin();
  }
}

/// Keeps the shared object loaded while workers run its code, for a plugin that contains this
/// library and is closed with dlclose: the C library does not unload an object for which a thread
/// has a destructor pending (__cxa_thread_atexit_impl).
struct StaysLoaded {
  ~StaysLoaded() { asm volatile(""); }
};
thread_local StaysLoaded stays_loaded;
/// In a forked child, which lacks the thread, that record is lost: not a leak.
void keep_loaded() {
  if (__lsan_disable != nullptr) __lsan_disable();
  asm volatile("" ::"r"(&stays_loaded));
  if (__lsan_enable != nullptr) __lsan_enable();
}

/// The arguments of a new worker.
struct Start {
  Pool& pool;
  cpu_set_t cores;  ///< its affinity mask; empty: unknown
};

/// On the cores of this process, but at first not on the current one: some Linux kernels start it
/// there, and it would spin while its caller does not run. Measured: bench/results/cpu/tuning.md.
bool start_worker(Pool& p) {
  std::unique_ptr<Start> start(new (std::nothrow) Start{p, allowed_cores()});
  if (start == nullptr) return false;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  const int here = sched_getcpu();
  if (here >= 0 && here < CPU_SETSIZE) {
    cpu_set_t others = start->cores;
    CPU_CLR(here, &others);
    if (CPU_COUNT(&others) > 0) pthread_attr_setaffinity_np(&attributes, sizeof others, &others);
  }
  pthread_t thread;
  const auto entry = [](void* argument) -> void* {
    keep_loaded();
    std::unique_ptr<Start> told(static_cast<Start*>(argument));
    if (CPU_COUNT(&told->cores) > 0) sched_setaffinity(0, sizeof told->cores, &told->cores);
    Pool& pool = told->pool;
    told.reset();
    run_worker(pool);
    return nullptr;
  };
  const bool started = pthread_create(&thread, &attributes, entry, start.get()) == 0;
  pthread_attr_destroy(&attributes);
  // On any core, where the restricted mask was refused.
  if (!started && pthread_create(&thread, nullptr, entry, start.get()) != 0) return false;
  start.release();
  pthread_detach(thread);
  return true;
}

/// Workers block all signals but those that an instruction raises: a blocked fault would end the
/// process, whatever handler it has.
sigset_t signals_of_others() {
  sigset_t out;
  sigfillset(&out);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) sigdelset(&out, own);
  return out;
}

/// Starts workers until there are `wanted`, or the system refuses.
void start_workers(Pool& p, int wanted) {
  std::unique_lock lock(p.starting, std::try_to_lock);
  if (!lock) return;  // another caller is starting them
  const sigset_t others = signals_of_others();
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, &others, &before);
  while (p.workers.load() < wanted) {
    p.sleeping.fetch_add(1);
    p.workers.fetch_add(1);
    if (!start_worker(p)) {
      p.workers.fetch_sub(1);
      p.sleeping.fetch_sub(1);
      break;
    }
    keep_loaded();  // the caller too, until the worker has done so
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
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
  const std::int64_t now = now_ns(), last = p.last_request_ns.load(std::memory_order_relaxed);
  if (!only_asks) p.last_request_ns.store(now, std::memory_order_relaxed);
  const bool is_apart = now - last > kCloselyFollowing + 4 * expected_ns;
  const int before = is_apart ? 0 : p.requests.load(std::memory_order_relaxed);
  if (is_apart && !only_asks) p.requests.store(0, std::memory_order_relaxed);
  if (now < p.wake_after_ns.load(std::memory_order_relaxed)) return false;
  if (expected_ns >= kWorthWaking && p.workers.load(std::memory_order_relaxed) > 0) return true;
  const int requests = before + 1;
  if (requests < kCallsToWake && !only_asks) p.requests.store(requests, std::memory_order_relaxed);
  return requests >= kCallsToWake;
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
  if (wakes && !only_asks) {
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
  if (expected_ns < kArrivalsWorthCalling * kLeastArrival) return false;
  if (expected_ns >= kArrivalsWorthCalling * p.arrival_ns.load(std::memory_order_relaxed))
    return true;
  const int patience = p.patience.load(std::memory_order_relaxed);
  if (only_asks) return calls_alone + 1 >= patience;
  if (++calls_alone < patience) return false;
  calls_alone = 0;
  p.patience.store(std::min(2 * patience, kMostPatience), std::memory_order_relaxed);
  p.arrival_ns.store(kLeastArrival, std::memory_order_relaxed);
  return true;
}

/// How many workers to use.
int wanted_workers(Pool& p, int threads, std::int64_t expected_ns) {
  if (!worth_using_workers(p, expected_ns)) return 0;
  const int most = std::min(useful_threads(threads) - 1, kMostWorkers);
  std::int64_t until = p.limited_until_ns.load(std::memory_order_relaxed);
  if (until == 0 || expected_ns / 2 > p.cost_ns.load(std::memory_order_relaxed)) return most;
  if (now_ns() < until) return std::min(most, p.limit.load(std::memory_order_relaxed));
  p.limited_until_ns.compare_exchange_strong(until, 0, std::memory_order_relaxed);
  return most;
}

/// Changes the estimate by at most a quarter: one delayed worker says little.
void learn_arrival(Pool& p, std::int64_t seen_ns) {
  const std::int64_t known = p.arrival_ns.load(std::memory_order_relaxed);
  const std::int64_t next = std::clamp(seen_ns, known * 3 / 4, known * 5 / 4);
  p.arrival_ns.store(std::clamp(next, kLeastArrival, kMostArrival), std::memory_order_relaxed);
  if (seen_ns <= known) p.patience.store(kLeastPatience, std::memory_order_relaxed);
}

/// Called after a call that workers joined. Work at the threshold gains next to nothing from
/// threading; far larger work gains at least half.
void learn_cost(Pool& p, int asked, std::int64_t expected_ns) {
  const std::int64_t asking = kArrivalsWorthCalling * p.arrival_ns.load(std::memory_order_relaxed);
  const std::int64_t gained = p.gained_ns.load(std::memory_order_relaxed) +
                              std::max<std::int64_t>(0, expected_ns - asking) / 2 - held_up_ns;
  if (gained < 0) take_fewer(p, asked / 2, held_up_ns);
  p.gained_ns.store(std::clamp<std::int64_t>(gained, 0, kMostGained), std::memory_order_relaxed);
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
  return threads <= 2 || always_ask ? threads : std::min(threads, std::max(2, cores()));
}

bool will_be_helped(int threads, std::int64_t expected_ns) {
  if (threads == 1 || inside) return false;
  Pool& p = pool();
  // The first calls use no workers and so need not count cores, which reads files.
  const bool knows = p.knows_cores.load(std::memory_order_relaxed);
  if (!knows && (!worth_using_workers(p, expected_ns) || !worth_waking(p, expected_ns)))
    return false;
  if (!only_asks) p.knows_cores.store(true, std::memory_order_relaxed);
  threads = useful_threads(threads > 0 ? threads : default_threads());
  if (threads <= 1) return false;
  const int wanted = wanted_workers(p, threads, expected_ns);
  return wanted > 0 && call_workers(p, 1, expected_ns);  // run_team decides how many it needs
}

OnlyAsking::OnlyAsking() : before_(std::exchange(only_asks, true)) {}
OnlyAsking::~OnlyAsking() { only_asks = before_; }

void always_ask_workers() { always_ask = true; }

// Over 60 lines: the order of its steps is what makes it safe.
void run_team(int threads, std::int64_t expected_ns, TeamBody body) {
  if (threads <= 1 || inside) return body(0);
  Pool& p = pool();
  const int wanted = wanted_workers(p, threads, expected_ns);
  if (wanted == 0) return body(0);
  p.knows_cores.store(true, std::memory_order_relaxed);
  const int callers = p.callers.fetch_add(1, std::memory_order_relaxed);
  Slot* mine = nullptr;
  const bool has_room = callers == 0 || callers + 1 < cores();
  if (has_room && call_workers(p, wanted, expected_ns)) {
    for (Slot& slot : p.slots) {
      std::uint64_t free = 0;
      if (slot.state.load(std::memory_order_relaxed) == 0 &&
          slot.state.compare_exchange_strong(free, Slot::kTaken)) {
        mine = &slot;
        break;
      }
    }
  }
  const std::uint64_t room = static_cast<std::uint64_t>(wanted) * Slot::kRoom;
  if (mine != nullptr) {
    mine->body = &body;
    mine->wanted = wanted;
    mine->floats = float_state();
    mine->flags.store(0, std::memory_order_relaxed);
    // Measured only with workers that were idle.
    mine->posted_ns = awake(p) >= wanted && callers == 0 ? now_ns() : 0;
    mine->outlasts.store(false, std::memory_order_relaxed);
    mine->arrival_ns.store(kMostArrival, std::memory_order_relaxed);
    mine->state.store(Slot::kTaken + room, std::memory_order_release);
    p.posts.fetch_add(1);
    const int core = sched_getcpu();
    if (core != p.callers_core.load(std::memory_order_relaxed))
      p.callers_core.store(core, std::memory_order_relaxed);
  }
  held_up_ns = 0;
  const int forks_before = forks;
  inside = true;
  body(0);
  inside = false;
  if (forks != forks_before) return;  // the body forked: the child's pool does not know this call
  if (mine != nullptr) {
    const std::uint64_t left = mine->state.fetch_and(~Slot::kRoomMask, std::memory_order_acq_rel);
    wait_for_team(
        [&] { return (mine->state.load(std::memory_order_acquire) & Slot::kInsideMask) == 0; });
    if (const unsigned flags = mine->flags.load(std::memory_order_relaxed); flags != 0)
      add_float_flags(flags);
    if (mine->posted_ns != 0) {
      if (expected_ns < kArrivalsWorthCalling * kMostArrival)
        learn_arrival(p, mine->arrival_ns.load(std::memory_order_relaxed));
      // Was this thread preempted because workers displaced another process onto its core?
      if (mine->outlasts.load(std::memory_order_relaxed)) {
        const std::int64_t took = now_ns() - mine->posted_ns, more = took - expected_ns;
        if (more > 3 * expected_ns && took > 4 * kSpin && more < kStoodStill)
          held_up_ns = std::max(held_up_ns, more);
      }
    }
    mine->state.store(0, std::memory_order_release);
    if ((left & Slot::kRoomMask) != room) learn_cost(p, wanted, expected_ns);
  }
  p.callers.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace tessera
