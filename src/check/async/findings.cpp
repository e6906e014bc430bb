// Findings in blocks with gates: see rules.hpp.
#include <algorithm>
#include <limits>
#include <utility>

#include "check/block/recorder.hpp"
#include "rules.hpp"
#include "tessera/simt/gate.hpp"

namespace tessera::check {

using tessera::detail::Access;

namespace {
bool writes(const Trace& trace) {
  return trace.how == Access::store || trace.how == Access::atomic;
}
constexpr const char* kNotCommitted =
    "commit_bulk(t) belongs between store_bulk() and the wait, which waits only for groups of "
    "stores "
    "that it has ended";
bool is_atomic(const Trace& trace) {
  return trace.how == Access::atomic || trace.how == Access::atomic_load;
}
}  // namespace

Here AsyncRules::here_of(std::uint16_t site) const { return recorder_.sites_[site].here; }

std::string AsyncRules::verb_of(const Trace& trace) const {
  switch (agent(trace).kind) {
    case AgentKind::gate: return "starts a bulk copy into";
    case AgentKind::units: return "starts a product that reads";
    case AgentKind::reader: return "starts a bulk store of";
    case AgentKind::storer: return "starts a bulk store to";
    case AgentKind::copier: return "starts an asynchronous copy into";
    default: break;
  }
  if (is_atomic(trace)) return writes(trace) ? "updates" : "loads";
  return writes(trace) ? "writes" : "reads";
}

template <class Body>
bool AsyncRules::any_thread(const Trace& trace, const Body& body) const {
  const Agent& who = agent(trace);
  if (who.kind != AgentKind::units) return body(static_cast<int>(trace.thread));
  for (int i = 0; i < kWarpgroup; ++i) {
    if (body(who.owner * kWarpgroup + i)) return true;
  }
  return false;
}

AsyncRules::LastWait AsyncRules::last_wait_of(const Trace& trace) const {
  LastWait out;
  any_thread(trace, [&](int thread) {
    out = mine_[static_cast<std::size_t>(thread)].last_wait;
    return out.is_stale || out.phase == -1;
  });
  return out;
}

bool AsyncRules::blame_wait(Mistake& mistake, const Trace& reader, const Trace& copy) const {
  const auto number = static_cast<std::size_t>(agent(copy).owner);
  const auto found = [&](int thread, const LastWait& wait) {
    mistake.kind = Kind::gate_phase;
    mistake.here = wait.here, mistake.thread = thread;
    mistake.other_here = here_of(copy.site), mistake.other_thread = copy.thread;
    name_blocks(mistake, rank_, copy.rank);
    return true;
  };
  const bool by_reader = any_thread(reader, [&](int thread) {
    const LastWait& wait = gates_[number].waits[static_cast<std::size_t>(thread)];
    const bool is_over = wait.is_stale || wait.phase == -1;
    return is_over && wait.phase < static_cast<std::int64_t>(copy.time) && found(thread, wait);
  });
  if (by_reader) return true;
  if (const Arrival& stale = gates_[number].stale; stale.thread >= 0)
    return found(stale.thread, {0, true, stale.here});
  const LastWait& wait = block_at(copy.rank).mine_[copy.thread].last_wait;
  if (!wait.is_stale) return false;
  found(copy.thread, wait);
  name_blocks(mistake, copy.rank, copy.rank);
  return true;
}

Mistake AsyncRules::race_of(const Trace& earlier, const Doer& doer) {
  const Trace& later = doer.trace;
  Trace first = later, second = earlier;
  const Here a = here_of(later.site), b = here_of(earlier.site);
  // The finding is reported at the write; of two writes, at the later line.
  if (!(writes(later) && (!writes(earlier) || b.line <= a.line))) std::swap(first, second);
  Mistake out = recorder_.mistake_at(Kind::race, Memory::shared, here_of(first.site), first.thread);
  const bool one_warp = earlier.rank == later.rank &&
                        recorder_.warp_of(earlier.thread) == recorder_.warp_of(later.thread);
  out.severity = one_warp && earlier.thread != later.thread ? Severity::warning : Severity::error;
  out.writes = writes(first), out.is_atomic = is_atomic(first);
  out.other_here = here_of(second.site);
  out.other_thread = second.thread;
  out.other_writes = writes(second), out.other_is_atomic = is_atomic(second);
  name_blocks(out, first.rank, second.rank);
  out.by_copy = agent(earlier).kind == AgentKind::copier || agent(later).kind == AgentKind::copier;
  return out;
}

Mistake AsyncRules::copied_over(const Trace& earlier, const Doer& copy) {
  const bool is_early = earlier.of_nothing && !writes(earlier);  // it should have read the copy
  const Trace& here = is_early ? earlier : copy.trace;
  const Trace& other = is_early ? copy.trace : earlier;
  Mistake out = recorder_.mistake_at(is_early ? Kind::bulk_not_awaited : Kind::stage_reused,
                                     Memory::shared, here_of(here.site), here.thread);
  out.other_here = here_of(other.site);
  out.other_thread = other.thread;
  name_blocks(out, here.rank, other.rank);
  out.detail = verb_of(earlier);
  out.at_start = is_early;
  if (agent(earlier).kind == AgentKind::units) out.product = earlier.time;
  blame_wait(out, earlier, copy.trace);
  if (is_early) told_.push_back(earlier.site);
  return out;
}

bool AsyncRules::is_after_start(const Trace& write, const Trace& product) const {
  const Agent& units = agent(product);
  if (judged_ == nullptr || units.kind != AgentKind::units || !writes(write)) return false;
  return agent(write).kind == AgentKind::thread && write.rank == rank_ &&
         write.thread / kWarpgroup == units.owner &&
         write.time >= judged_->since[nth(write.thread % kWarpgroup)];
}

bool AsyncRules::knows_start(const Doer& doer, const Trace& store) const {
  const AsyncRules& there = block_at(store.rank);
  if (doer.trace.rank == store.rank && doer.trace.thread == store.thread) return true;
  return doer.before->covers(there.agent_of(store.thread),
                             there.mine_[store.thread].store_times[store.time]);
}

Mistake AsyncRules::conflict_of(const Trace& earlier, const Doer& doer) {
  const AgentKind theirs = agent(earlier).kind, mine = agent(doer.trace).kind;
  const auto of = [&](Kind kind) {
    Mistake out =
        recorder_.mistake_at(kind, Memory::shared, here_of(doer.trace.site), doer.trace.thread);
    out.other_here = here_of(earlier.site);
    out.other_thread = earlier.thread;
    name_blocks(out, doer.trace.rank, earlier.rank);
    out.writes = writes(doer.trace), out.is_atomic = is_atomic(doer.trace);
    out.detail = verb_of(doer.trace);
    return out;
  };
  const bool is_stored = theirs == AgentKind::reader || theirs == AgentKind::storer;
  if (is_stored && knows_start(doer, earlier)) {
    Mistake out =
        of(theirs == AgentKind::reader ? Kind::source_overwritten : Kind::store_never_awaited);
    const Mine& storing = block_at(earlier.rank).mine_[earlier.thread];
    if (static_cast<std::int64_t>(earlier.time) >= storing.stores) out.advice = kNotCommitted;
    return out;
  }
  if (mine == AgentKind::gate) return copied_over(earlier, doer);
  if (theirs == AgentKind::units) return of(Kind::mma_not_awaited);
  if (theirs == AgentKind::gate) {
    Mistake out = of(Kind::bulk_not_awaited);
    blame_wait(out, doer.trace, earlier);
    return out;
  }
  if (theirs == AgentKind::copier) {
    const int owner = agent(earlier).owner;
    if (!clocks_[static_cast<std::size_t>(owner)].covers(earlier.agent, earlier.time))
      return of(Kind::async_not_waited);
  }
  if (earlier.of_nothing && !writes(earlier))
    told_.push_back(earlier.site);  // which had no value yet
  if (is_after_start(earlier, doer.trace)) {
    Mistake out = of(Kind::mma_not_awaited);
    std::swap(out.here, out.other_here), std::swap(out.thread, out.other_thread);
    out.writes = true, out.is_atomic = is_atomic(earlier);
    out.detail = verb_of(earlier);
    return out;
  }
  return race_of(earlier, doer);
}

void AsyncRules::report_conflict(int region, std::uint64_t offset, const Trace& earlier,
                                 const Doer& doer) {
  Mistake mistake = conflict_of(earlier, doer);
  mistake.memory = recorder_.region(region).memory;
  report(std::move(mistake), region, offset);
}

void AsyncRules::report(Mistake mistake, int region, std::uint64_t offset) {
  recorder_.report(std::move(mistake), {region, 1, 0, offset, 0, 0});
}

void AsyncRules::report_gate(const Arrival& at, int number, bool at_start, const char* verb,
                             const std::string& problem, const std::string& advice) {
  Mistake mistake = recorder_.mistake_at(Kind::gate_arrivals, Memory::shared, at.here, at.thread);
  const Arrival& opened = gate(number).opened;
  mistake.other_here = opened.here;
  mistake.other_thread = opened.thread;
  name_blocks(mistake, at.rank, opened.rank);
  mistake.tensor = cat("gate ", number);
  mistake.detail = cat(verb, " ", mistake.tensor);
  mistake.part = problem;
  mistake.advice = advice;
  mistake.at_start = at_start;
  recorder_.add_mistake(std::move(mistake));
}

void AsyncRules::report_units(int thread, std::string detail, Here here, Here other, int who) {
  Mistake mistake = recorder_.mistake_at(Kind::mma_unordered, Memory::local, here, thread);
  mistake.other_here = other;
  mistake.other_thread = who;
  mistake.detail = std::move(detail);
  recorder_.add_mistake(std::move(mistake));
}

void AsyncRules::adds_to_nothing(Here here) {
  begin();
  Mistake mistake =
      recorder_.mistake_at(Kind::uninitialized_read, Memory::local, here, recorder_.thread_);
  mistake.tensor = "accumulator";
  mistake.advice = "let the first product begin the sums: mma(t, acc, a, b, k > 0)";
  recorder_.add_mistake(std::move(mistake));
}

// ---- the end ------------------------------------------------------------------------------------

bool AsyncRules::is_written(std::uint64_t offset, std::uint32_t since) const {
  for (const GateAt& each : gates_) {
    if (offset - each.shared < sizeof(Gate)) return true;
  }
  const AgentCell* const cell = shadows_[kSharedRegion].cell_at(offset);
  if (cell == nullptr) return false;
  if (cell->write.any() && (cell->epoch >= since || agent(cell->write).kind == AgentKind::gate))
    return true;
  return std::any_of(cell->others.begin(), cell->others.end(), writes);
}

void AsyncRules::ends(int thread) {
  if (!is_on()) return;
  if (is_in_cluster()) cluster_->ended.clock.join(publish(thread));
  const Mine& m = mine(thread);
  if (m.last_copy >= m.copies_awaited)
    report(recorder_.mistake_at(Kind::async_never_waited, Memory::shared, m.last_copy_here, thread),
           kSharedRegion, m.last_copied);
  if (!m.sums.empty()) {
    Mistake mistake =
        recorder_.mistake_at(Kind::mma_not_awaited, Memory::local, m.sums.back().here, thread);
    mistake.product = m.sums.front().group;
    mistake.advice = "wait_mma<0>(t) belongs between the product and the thread's end";
    recorder_.add_mistake(std::move(mistake));
  }
  if (m.last_store < m.stores_read) return;
  Mistake mistake =
      recorder_.mistake_at(Kind::store_never_awaited, Memory::shared, m.last_store_here, thread);
  if (m.last_store >= m.stores) mistake.advice = kNotCommitted;
  report(std::move(mistake), kSharedRegion, m.last_source.shared);
}

void AsyncRules::finish() {
  if (!is_on()) return;
  for (int thread = 0; thread < threads_; ++thread)
    complete_stores(thread, std::numeric_limits<std::int64_t>::max());
  judge_exit();
  judge_gates();
  Mistake units;
  if (explain_units(units)) recorder_.add_mistake(std::move(units));
  for (const Nothing& each : nothing_) {
    if (std::find(told_.begin(), told_.end(), each.read.site) != told_.end()) continue;
    Mistake mistake = recorder_.mistake_at(Kind::uninitialized_read, Memory::shared,
                                           here_of(each.read.site), each.read.thread);
    mistake.writes = false;
    if (each.wait.phase == -1) {
      mistake.kind = Kind::gate_phase;
      mistake.other_here = std::exchange(mistake.here, each.wait.here);
    }
    report(std::move(mistake), kSharedRegion, each.offset);
  }
}

void AsyncRules::judge_gates() {
  AgentClock end;
  for (const AgentClock& each : clocks_) end.join(each);
  for (std::size_t i = 0; i < gates_.size(); ++i) {
    const GateAt& g = gates_[i];
    if (g.copied.thread < 0) continue;
    if (g.bytes != 0) {
      if (g.are_bytes_told) continue;
      const Arrival& at = g.expected.thread < 0 ? g.copied : g.expected;
      Mistake mistake = recorder_.mistake_at(Kind::gate_bytes, Memory::shared, at.here, at.thread);
      mistake.other_here = g.copied.here, mistake.other_thread = g.copied.thread;
      name_blocks(mistake, at.rank, g.copied.rank);
      mistake.tensor = cat("gate ", i);
      mistake.detail = cat("at the end of the block, phase ", g.phases, " of ", mistake.tensor,
                           g.bytes > 0 ? cat(" lacks ", g.bytes, " bytes")
                                       : cat(" has ", -g.bytes, " bytes too many"));
      recorder_.add_mistake(std::move(mistake));
    } else if (g.copied.rank == rank_ &&  // else judge_exit() reports it
               !end.covers(g.agent, static_cast<std::uint32_t>(g.copied_phase))) {
      Mistake mistake = recorder_.mistake_at(Kind::async_never_waited, Memory::shared,
                                             g.copied.here, g.copied.thread);
      mistake.detail = cat("gate ", i);
      mistake.advice = "let a thread wait(t, gate, phase) for the copy before the block ends";
      report(std::move(mistake), kSharedRegion, g.copied_to);
    }
  }
}

bool AsyncRules::explain_units(Mistake& mistake) const {
  for (int first = 0; first + kWarpgroup <= threads_; first += kWarpgroup) {
    const auto begin = mine_.begin() + first;
    const auto [least, most] = std::minmax_element(
        begin, begin + kWarpgroup, [](const Mine& a, const Mine& b) { return a.units < b.units; });
    if (least->units == most->units) continue;
    mistake.kind = Kind::mma_unordered;
    mistake.memory = Memory::local;
    mistake.here = most->last_unit_here, mistake.other_here = least->last_unit_here;
    mistake.thread = static_cast<int>(most - mine_.begin());
    mistake.other_thread = static_cast<int>(least - mine_.begin());
    mistake.block = recorder_.block_.linear;
    mistake.detail = cat("starts ", most->units, most->units == 1 ? " product" : " products",
                         ", and a thread of another warp of its warpgroup ", least->units);
    return true;
  }
  return false;
}

bool AsyncRules::explain_bytes(Mistake& mistake, int number) const {
  const GateAt& g = gates_[nth(number)];
  if (g.missing != 0 || g.bytes == 0) return false;
  mistake.kind = Kind::gate_bytes;
  const Arrival waits{mistake.thread, mistake.here, rank_};
  const Arrival &at = g.expected.thread < 0 ? g.copied : g.expected,
                &other = g.copied.thread < 0 ? waits : g.copied;
  mistake.here = at.here, mistake.other_here = other.here;
  mistake.thread = at.thread, mistake.other_thread = other.thread;
  name_blocks(mistake, at.rank, other.rank);
  return true;
}

bool AsyncRules::explain_phase(Mistake& mistake) const {
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    if (waiting_[i].gate < 0) continue;
    const GateAt& g = gates_[nth(waiting_[i].gate)];
    const std::int64_t last = std::max<std::int64_t>(g.waits[i].phase, -1);
    if (g.is_early_told || last + 1 >= g.phases) continue;  // a phase that it has not waited for
    const Arrival& other = g.copied.thread < 0 ? g.arrived : g.copied;
    mistake.kind = Kind::gate_phase;
    mistake.here = waiting_[i].here, mistake.other_here = other.here;
    mistake.thread = static_cast<int>(i), mistake.other_thread = other.thread;
    name_blocks(mistake, rank_, other.rank);
    // Of the parity of the phase after its last one: others have filled the stage again.
    if (g.copied.thread < 0 || (g.phases - last - 1) % 2 != 0) return true;
    mistake.kind = Kind::stage_reused;
    std::swap(mistake.here, mistake.other_here), std::swap(mistake.thread, mistake.other_thread);
    name_blocks(mistake, other.rank, rank_);
    return true;
  }
  return false;
}

void AsyncRules::explain(Mistake& mistake) const {
  if (!is_on()) return;
  if (mistake.kind == Kind::gate_arrivals) {
    const LastWait& last = mine_[static_cast<std::size_t>(mistake.thread)].last_wait;
    if (!last.is_stale) return;
    mistake.kind = Kind::gate_phase;
    mistake.other_here = std::exchange(mistake.here, last.here);
    return;
  }
  const int number = mistake.thread < 0 ? -1 : waiting_[nth(mistake.thread)].gate;
  if (number >= 0 && explain_bytes(mistake, number)) return;
  const auto any = [&](bool (AsyncRules::*explains)(Mistake&) const) {
    return std::any_of(
        cluster_->blocks.begin(), cluster_->blocks.end(),
        [&](const AsyncRules* each) { return each->is_on() && (each->*explains)(mistake); });
  };
  if (any(&AsyncRules::explain_phase) || any(&AsyncRules::explain_units)) return;
  if (number >= 0) explain_arrivals(mistake, number);
}

bool AsyncRules::waits_at_gates() const {
  return std::any_of(cluster_->blocks.begin(), cluster_->blocks.end(), [](const AsyncRules* each) {
    return std::any_of(each->waiting_.begin(), each->waiting_.end(),
                       [](const Waiting& waiting) { return waiting.gate >= 0; });
  });
}

bool AsyncRules::explain_arrivals(Mistake& mistake, int number) const {
  const GateAt& g = gates_[nth(number)];
  if (g.missing == 0 || g.missing == g.count) return false;  // none has arrived
  mistake.kind = Kind::gate_arrivals;
  mistake.here = g.opened.here, mistake.thread = g.opened.thread;
  mistake.other_here = g.arrived.here, mistake.other_thread = g.arrived.thread;
  name_blocks(mistake, rank_, g.arrived.rank);
  return true;
}

}  // namespace tessera::check
