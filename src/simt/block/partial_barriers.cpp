// Barriers of some threads of a block (masked lanes, named barriers, converged lanes), and threads
// that poll without success. See state.hpp.
#include <sched.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <limits>
#include <thread>
#include <utility>

#include "simt/cluster.hpp"

namespace tessera {

using detail::NamedBarrier;
using detail::Run;
using detail::Wait;

namespace {
/// Rounds in which every thread polls without success, before the block is ended: enough for loops
/// that give up after a while.
constexpr int kQuietRounds = 1024;
constexpr auto kNap = std::chrono::microseconds(100);
}  // namespace

Error BlockScheduler::State::misuse(int thread, const Here& here, const std::string& problem,
                                    const std::string& expected, const std::string& got,
                                    const std::string& advice) const {
  return Error(Category::kernel,
               cat(kernel_and_block(), ", thread ", thread_text(thread), ": ", problem, " at ",
                   here.file, ":", here.line),
               expected, got, advice);
}

void BlockScheduler::State::misused(int thread, const Here& here, const std::string& problem,
                                    const std::string& expected, const std::string& got,
                                    const std::string& advice, BlockFault::Kind kind) {
  fail({.kind = kind, .thread = thread, .here = here},
       [&] { return misuse(thread, here, problem, expected, got, advice); });
  cancel();
  throw detail::Cancelled{};
}

void BlockScheduler::State::release(const std::vector<int>& met) {
  for (const int each : met) run[static_cast<std::size_t>(each)] = Run::ready;
  moved = true;
}

void BlockScheduler::State::require_named(int thread, int id, int count, const Here& here) {
  if (id < 0 || id >= kNamedBarriers)
    misused(thread, here, "a named barrier that there is not", "an id from 0 to 15", cat(id),
            "a block has 16 named barriers");
  const int most = (threads + task.warp_size - 1) >> warp_shift << warp_shift;
  if (count <= 0 || count > most || count % task.warp_size != 0)
    misused(thread, here, cat("barrier ", id, " cannot wait for that many threads"),
            cat("a multiple of ", task.warp_size, " up to ", most), cat(count),
            "a named barrier counts whole warps");
  if (id == 0 && count != most)
    misused(thread, here, "barrier 0 is that of the whole block", cat(most, " threads"), cat(count),
            "take an id from 1 to 15 for a part of the block");
  const NamedBarrier& barrier = named[static_cast<std::size_t>(id)];
  if (!barrier.threads.empty() && barrier.count != count)
    misused(thread, here,
            cat("threads give barrier ", id, " different counts; thread ",
                thread_text(barrier.threads[0]), " has given ", barrier.count),
            cat(barrier.count), cat(count), "let all threads of a barrier give the same count");
}

void BlockScheduler::State::require_whole_warps(int id, const NamedBarrier& barrier,
                                                const Here& here) {
  std::vector<int> came(warp_arrived.size());
  for (const int each : barrier.threads) ++came[static_cast<std::size_t>(each >> warp_shift)];
  for (std::size_t warp = 0; warp < came.size(); ++warp) {
    const int lanes = lanes_of(static_cast<int>(warp));
    if (came[warp] == 0 || came[warp] == lanes) continue;
    misused(barrier.threads.back(), here, cat("barrier ", id, " is met by a part of warp ", warp),
            cat("all of its ", lanes, " lanes"), cat(came[warp]),
            "a named barrier takes whole warps: let all lanes of a warp arrive, or none");
  }
}

bool BlockScheduler::State::come_to(NamedBarrier& barrier, int thread, int id, int count,
                                    bool waits, const Here& here) {
  barrier.count = count;
  barrier.threads.push_back(thread);
  if (waits) barrier.waiting.push_back(thread);
  moved = true;
  // Missing lanes of a partial last warp count as arrived.
  const int last = (threads - 1) >> warp_shift, in_last = lanes_of(last);
  const auto of_last = std::count_if(barrier.threads.begin(), barrier.threads.end(),
                                     [&](int each) { return each >> warp_shift == last; });
  const int absent = of_last == in_last ? task.warp_size - in_last : 0;
  if (static_cast<int>(barrier.threads.size()) + absent < count) return false;
  require_whole_warps(id, barrier, here);
  barrier.last.swap(barrier.threads);
  barrier.threads.clear();
  ++barrier.met;
  const std::vector<int> met = std::exchange(barrier.waiting, {});
  if (met.empty()) return true;
  if (task.observer != nullptr) task.observer->group_met(met, nullptr, true, here);
  release(met);
  return true;
}

unsigned BlockScheduler::named_barrier(int thread, int id, int count, Here here) {
  State& s = *state_;
  if (s.cancelled) {
    s.wait_after_failure(thread);
    return 0;
  }
  if (s.named.empty()) s.named.resize(kNamedBarriers);
  s.require_named(thread, id, count, here);
  NamedBarrier& barrier = s.named[static_cast<std::size_t>(id)];
  const unsigned met = barrier.met;
  const Wait wait{here, nullptr};
  s.wait[static_cast<std::size_t>(thread)] = &wait;
  if (s.task.observer != nullptr) s.task.observer->waits(thread, here);
  if (s.come_to(barrier, thread, id, count, true, here)) return met;
  s.run[static_cast<std::size_t>(thread)] = Run::at_named_barrier;
  s.wait_in_line();
  return met;
}

void BlockScheduler::arrive(int thread, int id, int count, Here here) {
  State& s = *state_;
  if (s.cancelled) return s.wait_after_failure(thread);
  if (s.named.empty()) s.named.resize(kNamedBarriers);
  s.require_named(thread, id, count, here);
  s.come_to(s.named[static_cast<std::size_t>(id)], thread, id, count, false, here);
}

unsigned BlockScheduler::times_met(int id) const {
  const auto& named = state_->named;
  return id >= 0 && static_cast<std::size_t>(id) < named.size()
             ? named[static_cast<std::size_t>(id)].met
             : 0;
}

bool BlockScheduler::State::have_come(int thread) const {
  const auto mine = static_cast<std::size_t>(thread);
  const Collective& requested = *collective[mine];
  const int first = thread >> warp_shift << warp_shift;
  for (std::uint64_t rest = requested.mask; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<std::size_t>(first + std::countr_zero(rest));
    if (run[i] == Run::finished && requested.ended_count_as_come) continue;
    if (run[i] != Run::at_collective || collective[i]->mask != requested.mask ||
        !detail::identical(*wait[i], wait[mine]->name, wait[mine]->where))
      return false;
  }
  return true;
}

void BlockScheduler::State::exchange_values(int thread) {
  const int warp = thread >> warp_shift, first = warp << warp_shift;
  const Collective& requested = *collective[static_cast<std::size_t>(thread)];
  const Wait& waits = *wait[static_cast<std::size_t>(thread)];
  std::byte values[64][sizeof requested.value];
  std::uint64_t votes = 0, came = 0;
  std::vector<int> met;
  for (std::uint64_t rest = requested.mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (run[static_cast<std::size_t>(first + lane)] != Run::at_collective) continue;
    const Collective& theirs = *collective[static_cast<std::size_t>(first + lane)];
    std::memcpy(values[lane], theirs.value, sizeof theirs.value);
    votes |= std::uint64_t{theirs.vote} << lane;
    came |= std::uint64_t{1} << lane;
    met.push_back(first + lane);
  }
  for (const int each : met) {
    Collective& theirs = *collective[static_cast<std::size_t>(each)];
    theirs.votes = votes;
    theirs.has_value =
        theirs.source >= 0 && theirs.source < task.warp_size && (came >> theirs.source & 1) != 0;
    if (theirs.has_value) std::memcpy(theirs.value, values[theirs.source], sizeof theirs.value);
  }
  if (task.observer != nullptr && came != requested.mask)
    task.observer->met_without(met, requested.mask & ~came, waits.where);
  if (task.observer != nullptr) task.observer->group_met(met, waits.name, false, waits.where);
  release(met);
}

void BlockScheduler::State::lane_ended(int thread) {
  const int first = thread >> warp_shift << warp_shift;
  for (int lane = 0; lane < lanes_of(thread >> warp_shift); ++lane) {
    const auto i = static_cast<std::size_t>(first + lane);
    if (run[i] == Run::at_collective && collective[i]->ended_count_as_come &&
        have_come(first + lane))
      exchange_values(first + lane);
  }
}

void BlockScheduler::collect(int thread, Collective& mine, Here here) {
  State& s = *state_;
  if (s.cancelled) return s.wait_after_failure(thread);
  const int warp = thread >> s.warp_shift, first = warp << s.warp_shift, lanes = s.lanes_of(warp);
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - lanes);
  if (mine.ended_count_as_come) mine.mask &= all;
  if ((mine.mask & ~all) != 0)
    s.misused(thread, here, cat("a mask names lanes that warp ", warp, " does not have"),
              cat(lanes, " lanes"), cat("lane ", 63 - std::countl_zero(mine.mask & ~all)),
              "t.lanes() says how many there are");
  if ((mine.mask >> (thread - first) & 1) == 0)
    s.misused(thread, here, "a lane is not in the mask that it gives",
              cat("a mask with lane ", thread - first), cat("mask ", mine.mask),
              "let only the lanes of the mask reach this line");
  if (s.collective.empty()) s.collective.resize(static_cast<std::size_t>(s.threads));
  const Wait wait{here, mine.verb};
  s.wait[static_cast<std::size_t>(thread)] = &wait;
  s.collective[static_cast<std::size_t>(thread)] = &mine;
  s.run[static_cast<std::size_t>(thread)] = Run::at_collective;
  if (s.task.observer != nullptr) s.task.observer->waits(thread, here);
  s.moved = true;
  if (!s.have_come(thread)) return s.wait_in_line();
  s.exchange_values(thread);
}

std::uint64_t BlockScheduler::active_mask(int thread, Here here) {
  State& s = *state_;
  const auto i = static_cast<std::size_t>(thread);
  const int lane = thread & (s.task.warp_size - 1);
  if (s.cancelled) {
    s.wait_after_failure(thread);
    return std::uint64_t{1} << lane;
  }
  if (s.active_of.empty()) s.active_of.resize(static_cast<std::size_t>(s.threads));
  const Wait wait{here, nullptr};
  s.wait[i] = &wait;
  s.run[i] = Run::at_active_mask;
  ++s.active_waiting;
  if (s.task.observer != nullptr) s.task.observer->waits(thread, here);
  s.moved = true;
  s.wait_in_line();
  return s.active_of[i];
}

bool BlockScheduler::State::release_active() {
  bool any = false;
  for (int warp = 0; warp << warp_shift < threads; ++warp) {
    const int first = warp << warp_shift;
    std::vector<int> met;
    for (int lane = 0; lane < lanes_of(warp); ++lane) {
      const auto i = static_cast<std::size_t>(first + lane);
      if (run[i] != Run::at_active_mask) continue;
      const Wait& leader = *wait[static_cast<std::size_t>(met.empty() ? first + lane : met[0])];
      if (detail::identical(*wait[i], leader.name, leader.where)) met.push_back(first + lane);
    }
    if (met.empty()) continue;
    std::uint64_t mask = 0;
    for (const int each : met) mask |= std::uint64_t{1} << (each - first);
    for (const int each : met) active_of[static_cast<std::size_t>(each)] = mask;
    if (task.observer != nullptr)
      task.observer->group_met(met, "active mask", false,
                               wait[static_cast<std::size_t>(met[0])]->where);
    active_waiting -= static_cast<int>(met.size());
    release(met);
    any = true;
  }
  return any;
}

/// A loop may give up by itself. Under an observer a thread polls less often between two rounds, so
/// more of them pass; where many threads poll, not so many more.
int BlockScheduler::State::enough_rounds() const {
  constexpr int kMostPolls = 1 << 20, kMostRounds = 1 << 15;
  if (task.observer == nullptr) return kQuietRounds;
  return std::clamp(kMostPolls / std::max(round_length, 1), kQuietRounds, kMostRounds);
}

void BlockScheduler::State::quiet_round() {
  polls_in_round = 0;
  round_length = static_cast<int>(std::count(run.begin(), run.end(), Run::ready) +
                                  std::count(run.begin(), run.end(), Run::unstarted));
  if (machine && (carry_out_awaited() || carry_out_one())) moved = true;
  const bool has_moved_here = has_moved();
  is_polling = true;
  if (task.residents != nullptr) task.residents->lets_later_run();
  if (has_moved_here) return pass_turn();
  if (active_waiting > 0 && release_active()) return;
  if (cluster != nullptr && !cluster->all_are_quiet()) return pass_turn();
  const int enough =
      std::exchange(round_may_end, false) ? std::numeric_limits<int>::max() : enough_rounds();
  if (task.residents == nullptr) {
    if (++quiet_rounds >= enough) deadlocked();
    return pass_turn();
  }
  switch (task.residents->rest(resting(), enough)) {
    case detail::Residents::Verdict::deadlock: deadlocked();
    case detail::Residents::Verdict::others_run: std::this_thread::sleep_for(kNap); break;
    case detail::Residents::Verdict::wait: sched_yield(); break;
  }
  pass_turn();
}

void BlockScheduler::State::deadlocked() {
  int thread = 0;  // the polling thread of lowest number, the same for every order
  while (run[static_cast<std::size_t>(thread)] != Run::ready) ++thread;
  const Here here = polls[static_cast<std::size_t>(thread)].here;
  fail({.kind = BlockFault::Kind::deadlocked, .thread = thread, .here = here}, [&] {
    return Error(Category::kernel,
                 cat(kernel_and_block(), ", thread ", thread_text(thread),
                     " finds the same value forever at ", here.file, ":", here.line,
                     ", and no thread changes it: ", places_text({}), missing_text(),
                     task.residents != nullptr ? task.residents->others_text() : ""),
                 {}, {},
                 "let the thread that sets the value do so before it waits or ends, and release "
                 "each lock; threads of a block run at one time, blocks of a grid need not");
  });
  cancel();
  throw detail::Cancelled{};
}

}  // namespace tessera
