// The pool of workers behind run_team, lock-free where it is waited for: work is posted in one of a
// few slots, and a counter inside each says how many workers are in it. A slot is given up only
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

// Of the leak sanitizer, where there is one: sanitizer/lsan_interface.h.
extern "C" {
[[gnu::weak]] void __lsan_disable();
[[gnu::weak]] void __lsan_enable();
}

namespace tessera {

namespace {

/// ns of work for one thread. Waking a sleeper costs the caller some time, and the sleeper needs as
/// long again to arrive; starting one costs more. Measured: bench/results/cpu/tuning.md.
constexpr std::int64_t kWorthWaking = 100'000, kWorthStarting = 250'000;
constexpr std::int64_t kSpin = 200'000;  // ns that an idle worker stays awake
/// ns between calls that ask for help, besides four times what they are expected to take, because
/// some processors do a quarter as much in a cycle. Measured: bench/results/cpu/tuning.md.
constexpr std::int64_t kCloselyFollowing = 300'000;
constexpr int kCallsToWake = 3;
constexpr int kMostWorkers = 1023;

/// A worker that spins arrives some time after work is posted; the part of the work that it
/// takes and what it hands back cost the caller several times that. Measured:
/// bench/results/cpu/tuning.md.
constexpr std::int64_t kArrivalsWorthCalling = 18;
constexpr std::int64_t kLeastArrival = 60, kMostArrival = 1000;  // ns
/// Calls that did not ask, after which what is known is forgotten, because where threads run
/// changes: the first number, and twice as many as the last time while that brings nothing.
constexpr int kLeastPatience = 256, kMostPatience = 1 << 14;

/// A worker that waits for its core while it holds a work item, because another process has the
/// core, holds its caller up for milliseconds. Where that costs more than sharing has gained
/// lately, callers take half as many, at last nobody, for so long that it costs some 2 %: but not
/// for work of which sharing saves more than such an event costs. Workers that were woken and found
/// nothing to do are not woken for little work for as long.
constexpr std::int64_t kRepaid = 50;
constexpr std::int64_t kHeldUp = 100'000;          // ns that a wait lasts before it counts
constexpr std::int64_t kMostCost = kStoodStill;    // of one event
constexpr std::int64_t kMostGained = 200'000'000;  // what was longer ago says nothing
constexpr int kPauses = 2000;                      // before a wait gives its core away

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
  std::atomic<unsigned> flags{0};           ///< of exceptions that workers raised
  std::int64_t posted_ns = 0;               ///< 0: not noted
  std::atomic<std::int64_t> arrival_ns{0};  ///< from then to the first one that joined
  std::atomic<bool> outlasts{false};        ///< a worker that left has waited long for the end
};

struct Pool {
  std::array<Slot, 16> slots;
  alignas(64) std::atomic<std::uint32_t> posts{0};  // changes when work is posted
  std::atomic<bool> waking{false};  // workers were woken, and none of them has joined since
  alignas(64) std::atomic<int> sleeping{0};
  std::atomic<int> workers{0};
  alignas(64) std::atomic<int> callers{0};
  std::atomic<std::int64_t> gained_ns{0};         // by sharing, lately, less what workers cost
  std::atomic<std::int64_t> limited_until_ns{0};  // until then fewer are asked; 0: not now
  std::atomic<std::int64_t> cost_ns{0};           // of the event for which they are
  std::atomic<int> limit{0};
  std::atomic<std::int64_t> wake_after_ns{0};  // until then nobody is woken for little work
  std::atomic<std::int64_t> last_wish_ns{0};
  std::atomic<int> wishes{0};  // calls, each closely after the one before, that found no one awake
  std::atomic<int> callers_core{-1};  // on which workers were woken or work was posted last
  std::atomic<SleepingPlace*> places{nullptr};                      // of all workers
  alignas(64) std::atomic<std::int64_t> arrival_ns{kLeastArrival};  // of a worker that is awake
  std::atomic<int> patience{kLeastPatience};
  std::atomic<bool> knows_cores{false};  // of the process: see will_be_helped
  std::mutex starting;
};

int forks = 0;  ///< that made this process, since the pool was first there

/// Never destroyed: workers may look at it until the process ends.
Pool& pool() {
  alignas(Pool) static char memory[sizeof(Pool)];
  static Pool* const made = [] {
    Pool* p = new (memory) Pool;
    // The child of a fork has only the forking thread: whatever others were doing is not there.
    pthread_atfork(nullptr, nullptr, [] {
      new (&pool()) Pool;
      ++forks;
    });
    return p;
  }();
  return *made;
}

thread_local bool inside = false;
thread_local int refused = 0;  ///< calls of this thread that did not ask, since it last forgot
thread_local LongWait long_wait;
thread_local std::int64_t held_up_ns = 0;
thread_local bool only_asks = false;  ///< see OnlyAsking

bool always_ask = false;  ///< set before there are threads

/// From now on callers take `limit` workers at most, until that repays what more of them cost.
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

/// Takes part in one work item, if there is any: which, or null.
Slot* join(Pool& p) {
  for (Slot& slot : p.slots) {
    std::uint64_t seen = slot.state.load(std::memory_order_acquire);
    while ((seen & Slot::kRoomMask) != 0) {
      if (!slot.state.compare_exchange_weak(seen, seen - Slot::kRoom + Slot::kInside,
                                            std::memory_order_acq_rel))
        continue;
      const int room = static_cast<int>((seen & Slot::kRoomMask) / Slot::kRoom);
      if (slot.posted_ns != 0) {  // of two that come at once, either is the first
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

/// Until work is posted. Was it woken on the core of its caller, who has come to the only cores
/// that were left to it?
bool sleep(Pool& p, SleepingPlace& place, std::uint32_t seen) {
  place.sleeps(p.callers_core.load(std::memory_order_relaxed));
  p.posts.wait(seen);
  const int core = sched_getcpu();
  return place.wakes() && core == p.callers_core.load(std::memory_order_relaxed);
}

/// The time that a worker stays awake, less that in which it was absent.
class LookingAround {
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

void help(Pool& p) {  // begins as a sleeper that was woken
  SleepingPlace place;
  for (place.next = p.places.load(); !p.places.compare_exchange_weak(place.next, &place);) {
  }
  p.sleeping.fetch_sub(1);
  std::uint32_t seen = p.posts.load();
  LookingAround looking;
  looking.begin();
  bool woken = true;  // by its caller from another core, and has joined nothing since
  for (Slot* last = nullptr;;) {
    if (Slot* const joined = join(p)) {
      last = joined, woken = false;
      looking.begin();
      continue;
    }
    for (int i = 0; i < 64 && p.posts.load(std::memory_order_relaxed) == seen; ++i) pause();
    const bool is_over = looking.is_over();
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
    looking.begin();
  }
}

/// The object that this code is part of stays loaded while a thread has something of it to destroy
/// at its end (the C library counts that: __cxa_thread_atexit_impl): a plugin that has this library
/// inside and is closed, while workers still spin in it.
struct StaysLoaded {
  ~StaysLoaded() { asm volatile(""); }
};
thread_local StaysLoaded stays_loaded;
/// What the C library counts with is lost in a forked child, where the thread is not: no leak.
void keep_loaded() {
  if (__lsan_disable != nullptr) __lsan_disable();
  asm volatile("" ::"r"(&stays_loaded));
  if (__lsan_enable != nullptr) __lsan_enable();
}

/// What a new worker is told.
struct Start {
  Pool& pool;
  cpu_set_t cores;  ///< for it; empty: not known
};

/// On the cores of this process, but at first not on the one that this is on: some kernels start it
/// there, and it spins while its caller is stopped. Measured: bench/results/cpu/tuning.md.
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
    help(pool);
    return nullptr;
  };
  const bool started = pthread_create(&thread, &attributes, entry, start.get()) == 0;
  pthread_attr_destroy(&attributes);
  // Anywhere, where none of the others is for this thread's children after all.
  if (!started && pthread_create(&thread, nullptr, entry, start.get()) != 0) return false;
  start.release();
  pthread_detach(thread);
  return true;
}

/// Signals stay with the program's own threads, but for those that an instruction raises: where a
/// thread blocks these, its fault ends the process, whatever handler the program has for it.
sigset_t signals_of_others() {
  sigset_t out;
  sigfillset(&out);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) sigdelset(&out, own);
  return out;
}

/// Starts workers until there are `wanted`, or the system has no more.
void start_workers(Pool& p, int wanted) {
  std::unique_lock lock(p.starting, std::try_to_lock);
  if (!lock) return;  // another caller is at it
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
    keep_loaded();  // here too, until the worker has done it
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// Of this process. One caller each fills the machine: none has a worker then.
int cores() {
  static const int found = available_cores();
  return found;
}

/// Counts a call that found too few workers awake. Is it worth its time to start or wake some?
bool worth_waking(Pool& p, std::int64_t expected_ns) {
  if (expected_ns >= kWorthStarting) return true;
  const std::int64_t now = now_ns(), last = p.last_wish_ns.load(std::memory_order_relaxed);
  if (!only_asks) p.last_wish_ns.store(now, std::memory_order_relaxed);
  const bool is_apart = now - last > kCloselyFollowing + 4 * expected_ns;
  const int before = is_apart ? 0 : p.wishes.load(std::memory_order_relaxed);
  if (is_apart && !only_asks) p.wishes.store(0, std::memory_order_relaxed);
  if (now < p.wake_after_ns.load(std::memory_order_relaxed)) return false;
  if (expected_ns >= kWorthWaking && p.workers.load(std::memory_order_relaxed) > 0) return true;
  const int wishes = before + 1;
  if (wishes < kCallsToWake && !only_asks) p.wishes.store(wishes, std::memory_order_relaxed);
  return wishes >= kCallsToWake;
}

int awake(const Pool& p) {
  return p.workers.load(std::memory_order_relaxed) - p.sleeping.load(std::memory_order_relaxed);
}

/// Will workers come to work that is posted now? Starts and wakes them where that is worth it.
/// Those who are woken for little work may come too late for it; but what takes longer than
/// estimated must not be over before they look, else they find nothing and sleep, for good.
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

/// Is there so much work that asking is repaid where workers are awake?
bool worth_asking(Pool& p, std::int64_t expected_ns) {
  if (expected_ns < kArrivalsWorthCalling * kLeastArrival) return false;
  if (expected_ns >= kArrivalsWorthCalling * p.arrival_ns.load(std::memory_order_relaxed))
    return true;
  const int patience = p.patience.load(std::memory_order_relaxed);
  if (only_asks) return refused + 1 >= patience;
  if (++refused < patience) return false;
  refused = 0;
  p.patience.store(std::min(2 * patience, kMostPatience), std::memory_order_relaxed);
  p.arrival_ns.store(kLeastArrival, std::memory_order_relaxed);
  return true;
}

/// How many workers to call.
int wanted_workers(Pool& p, int threads, std::int64_t expected_ns) {
  if (!worth_asking(p, expected_ns)) return 0;
  const int most = std::min(useful_threads(threads) - 1, kMostWorkers);
  std::int64_t until = p.limited_until_ns.load(std::memory_order_relaxed);
  if (until == 0 || expected_ns / 2 > p.cost_ns.load(std::memory_order_relaxed)) return most;
  if (now_ns() < until) return std::min(most, p.limit.load(std::memory_order_relaxed));
  p.limited_until_ns.compare_exchange_strong(until, 0, std::memory_order_relaxed);
  return most;
}

/// Moves what is known by at most a quarter: one worker that was held up says little.
void learn_arrival(Pool& p, std::int64_t seen_ns) {
  const std::int64_t known = p.arrival_ns.load(std::memory_order_relaxed);
  const std::int64_t next = std::clamp(seen_ns, known * 3 / 4, known * 5 / 4);
  p.arrival_ns.store(std::clamp(next, kLeastArrival, kMostArrival), std::memory_order_relaxed);
  if (seen_ns <= known) p.patience.store(kLeastPatience, std::memory_order_relaxed);
}

/// After a call that workers joined. With as much work as is worth asking for, sharing gains next
/// to nothing; with far more, half of it at least.
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
  // Two on one core too: what such a worker costs is learned.
  return threads <= 2 || always_ask ? threads : std::min(threads, std::max(2, cores()));
}

bool will_be_helped(int threads, std::int64_t expected_ns) {
  if (threads == 1 || inside) return false;
  Pool& p = pool();
  // Cores need not be counted for workers that do not come to the first calls: that reads files.
  const bool knows = p.knows_cores.load(std::memory_order_relaxed);
  if (!knows && (!worth_asking(p, expected_ns) || !worth_waking(p, expected_ns))) return false;
  if (!only_asks) p.knows_cores.store(true, std::memory_order_relaxed);
  threads = useful_threads(threads > 0 ? threads : default_threads());
  if (threads <= 1) return false;
  const int wanted = wanted_workers(p, threads, expected_ns);
  return wanted > 0 && call_workers(p, 1, expected_ns);  // run_team knows how many it needs
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
    // Learned from workers that have nothing else to do.
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
  if (forks != forks_before) return;  // in a child of the body's: its pool knows nothing of this
  if (mine != nullptr) {
    const std::uint64_t left = mine->state.fetch_and(~Slot::kRoomMask, std::memory_order_acq_rel);
    wait_for_team(
        [&] { return (mine->state.load(std::memory_order_acquire) & Slot::kInsideMask) == 0; });
    if (const unsigned flags = mine->flags.load(std::memory_order_relaxed); flags != 0)
      add_float_flags(flags);
    if (mine->posted_ns != 0) {
      if (expected_ns < kArrivalsWorthCalling * kMostArrival)
        learn_arrival(p, mine->arrival_ns.load(std::memory_order_relaxed));
      // Was this thread stopped because workers drove another process to its core?
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
