// Follows which thread has waited for what: see rules.hpp.
#include "rules.hpp"

#include <numeric>
#include <utility>

#include "check/block/recorder.hpp"

namespace tessera::check {

using tessera::detail::Access;

void AsyncRules::start() {
  cluster_ = &own_, rank_ = first_ = 0;
  clocks_.clear(), shadows_.clear(), reached_.clear(), is_start_told_ = false;
  reads_.clear(), is_stored_.clear();
  gates_.clear(), mine_.clear(), waiting_.clear(), units_.clear();
  released_.clear(), nothing_.clear(), told_.clear();
}

void AsyncRules::begin() {
  if (is_on()) return;
  threads_ = recorder_.threads_;
  if (cluster_ == &own_) own_.start({this}, threads_);
  const auto count = static_cast<std::size_t>(threads_);
  clocks_.resize(count);
  mine_.resize(count);
  waiting_.resize(count);
  units_.resize(count / kWarpgroup + 1);
  shadows_.resize(recorder_.regions_.size());
  is_stored_.resize(recorder_.regions_.size());
  // All clocks begin at 1: an event at time 0 is ordered before everything.
  for (int thread = 0; thread < threads_; ++thread) {
    for (int each = 0; each < threads_; ++each)
      clock(each).raise(agent_of(thread), each == thread ? 2 : 1);
  }
  take_over();
  recorder_.settle();
}

void AsyncRules::take_over() {
  const auto& r = recorder_;
  for (std::size_t i = 0; i < shadows_.size(); ++i) take_over_marks(static_cast<int>(i));
  const int running = recorder_.thread_;
  for (int thread = 0; thread < threads_; ++thread) {
    recorder_.thread_ = thread;
    const EventLog& log = r.logs_[static_cast<std::size_t>(thread)];
    for (const Event* event = log.begin(); event != log.end(); ++event) {
      const AccessPoint& point = *event->point;
      const Here here = r.sites_[point.site].here;
      const EventKind kind = kind_of(point.key);
      const auto bytes = static_cast<std::size_t>(tessera::check::bytes_of(point.key));
      if (kind == EventKind::commit) commits_async();
      else if (kind == EventKind::wait) awaits_async(static_cast<int>(event->bits));
      else if (kind == EventKind::async_store) copies_async(event->offset, bytes, here);
      else if (kind != EventKind::order)
        access(region_of(point.key), event->offset, bytes,
               kind == EventKind::store         ? Access::store
               : kind == EventKind::atomic      ? Access::atomic
               : kind == EventKind::atomic_load ? Access::atomic_load
                                                : Access::load,
               here);
    }
    if (!r.orders_.empty()) meet(0, threads_);  // barriers of some threads may be in between
  }
  recorder_.thread_ = running;
}

void AsyncRules::take_over_marks(int region) {
  const auto& r = recorder_;
  Shadow& marks_of = recorder_.shadow(region);
  marks_of.for_each([&](std::uint64_t i, const Cell& cell) {
    if (!cell.touched()) return;
    const std::size_t piece = marks_of.piece();
    shadows_[nth(region)].for_each(i * piece, piece, [&](std::uint64_t, AgentCell& to) {
      const auto trace = [&](const Marks& marks, int which, Access how) {
        const int thread = marks.thread[nth(which)];
        // A barrier of the warp, or of some threads, has happened since, or may have.
        const bool is_over = marks.epoch < r.epoch_ || !r.orders_.empty() ||
                             marks.warp_epoch < r.warp_epoch_[nth(r.warp_of(thread))];
        return Trace{agent_of(thread),
                     is_over ? 0u : 1u,
                     marks.site[nth(which)],
                     static_cast<std::uint16_t>(thread),
                     static_cast<std::uint8_t>(rank_),
                     how};
      };
      if (cell.write.any()) to.write = trace(cell.write, 0, Access::store);
      to.epoch = cell.write.epoch;
      for (const auto& [marks, how] :
           {std::pair{cell.update, Access::atomic}, std::pair{cell.read, Access::load}}) {
        for (int which = 0; which < 2 && marks.any(); ++which) {
          if (marks.thread[nth(which)] != Marks::kNobody)
            to.others.push_back(trace(marks, which, how));
        }
      }
    });
  });
}

int AsyncRules::agent_of(AgentKind kind, int owner) {
  const auto [at, is_new] = cluster_->agent_index.try_emplace(
      {rank_, kind, owner}, static_cast<int>(cluster_->agents.size()));
  if (!is_new) return at->second;
  cluster_->agents.push_back({kind, owner});
  if (kind == AgentKind::gate) cluster_->gates.push_back(at->second);
  return at->second;
}

const AgentClock& AsyncRules::publish(int thread) {
  AgentClock& own = clock(thread);
  own.raise(agent_of(thread), now(thread) + 1);
  return own;
}

void AsyncRules::meet(const std::vector<int>& threads) {
  if (!is_on()) return;
  AgentClock all;
  for (const int each : threads) all.join(publish(each));
  for (const int each : threads) clock(each) = all;
}

void AsyncRules::meet(int first, int count) {
  if (!is_on()) return;
  std::vector<int> threads(static_cast<std::size_t>(count));
  std::iota(threads.begin(), threads.end(), first);
  meet(threads);
}

void AsyncRules::fence() {
  if (!is_on()) return;
  const int thread = recorder_.thread_;
  Mine& m = mine(thread);
  clock(thread).join(m.read);
  m.fenced.join(publish(thread));
  m.has_fenced = true;
}

void AsyncRules::releases(const void* address) {
  if (is_on() && mine(recorder_.thread_).has_fenced)
    released_[address].join(mine(recorder_.thread_).fenced);
}

void AsyncRules::acquires(const void* address) {
  if (const auto at = released_.find(address); is_on() && at != released_.end())
    mine(recorder_.thread_).read.join(at->second);
}

// ---- gates --------------------------------------------------------------------------------------

void AsyncRules::opens(int thread, int number, std::size_t shared, int arrivals, Here here) {
  begin();
  if (number >= static_cast<int>(gates_.size()))
    gates_.resize(static_cast<std::size_t>(number) + 1);
  GateAt& g = gate(number);
  g = {};
  g.shared = shared;
  g.count = g.missing = arrivals;
  g.opened = {thread, here, rank_};
  g.opened_time = now(thread);
  g.agent = agent_of(AgentKind::gate, number);
  for (AgentClock& each : clocks_) each.raise(g.agent, 0);
  g.waits.resize(static_cast<std::size_t>(threads_));
}

void AsyncRules::publishes(int thread) {
  begin();
  for (GateAt& each : gates_) each.is_published = each.is_published || each.opened.thread == thread;
}

void AsyncRules::require_open(const AsyncRules& by, int thread, int number, bool by_copy,
                              Here here) {
  GateAt& g = gate(number);
  const bool is_own = &by == this && g.opened.thread == thread;
  const bool is_seen = is_own || by.clocks_[static_cast<std::size_t>(thread)].covers(
                                     agent_of(g.opened.thread), g.opened_time);
  if (is_seen && (g.is_published || (!by_copy && &by == this))) return;
  report_gate({thread, here, by.rank_}, number, true,
              !is_seen  ? "uses"
              : by_copy ? "starts a copy to"
                        : "arrives at",
              !is_seen ? ": nothing orders the two" : " without a publish_gates(t) after that",
              is_seen || &by == this ? ""
                                     : "cluster_barrier(t) belongs between publish_gates(t) and "
                                       "the first use of the gates of another block");
}

void AsyncRules::arrives(int thread, int rank, int number, std::int64_t expected_bytes, Here here) {
  begin();
  block_at(rank).take_arrival(*this, thread, number, expected_bytes, here);
}

void AsyncRules::take_arrival(AsyncRules& by, int thread, int number, std::int64_t expected_bytes,
                              Here here) {
  require_open(by, thread, number, false, here);
  GateAt& g = gate(number);
  const Arrival arrival{thread, here, by.rank_};
  if (expected_bytes != 0) g.expected = arrival;
  // A thread that expects bytes continues with their copy, which is judged.
  const bool is_early = by.clock(thread).at(g.agent) < static_cast<std::uint32_t>(g.phases);
  if (is_early && expected_bytes == 0 && g.early.thread < 0) {
    g.early = arrival;
    if (g.is_waited_for) tell_early(number);
  }
  g.arrived = arrival;
  --g.missing;
  g.bytes += expected_bytes;
  count_expected(by, thread, number, expected_bytes);
  if (&by != this) {
    Trace trace = by.trace_of(thread, Access::atomic, here);
    trace.site = recorder_.site_of(here);
    is_reached(trace);
  }
  g.pending.join(by.publish(thread));
}

void AsyncRules::tell_early(int number) {
  GateAt& g = gate(number);
  if (std::exchange(g.is_early_told, true)) return;
  report_gate(g.early, number, false, "arrives at",
              cat(" for ", g.count, g.count == 1 ? " arrival" : " arrivals",
                  ": once too often in one phase, or before it has seen the previous phase end"));
}

void AsyncRules::phase_ends(int number) {
  GateAt& g = gate(number);
  g.done.join(std::exchange(g.pending, {}));
  ++g.phases;
  g.done.raise(g.agent, static_cast<std::uint32_t>(g.phases));
  g.missing = g.count;
  g.expected_bytes = g.started_bytes = 0;
}

void AsyncRules::waits_at(int thread, int number, unsigned, Here here) {
  begin();
  require_open(*this, thread, number, false, here);
  waiting_[static_cast<std::size_t>(thread)] = {number, here};
  GateAt& g = gate(number);
  g.is_waited_for = true;
  if (g.early.thread >= 0) tell_early(number);
}

void AsyncRules::passes(int thread, int number) {
  GateAt& g = gate(number);
  LastWait& last = g.waits[static_cast<std::size_t>(thread)];
  const std::int64_t ended = g.phases - 1;
  const Here here = waiting_[static_cast<std::size_t>(thread)].here;
  last = {ended, last.phase >= ended, here};
  if (last.is_stale && g.stale.thread < 0) g.stale = {thread, here, rank_};
  mine(thread).last_wait = last;
  waiting_[static_cast<std::size_t>(thread)].gate = -1;
  clock(thread).join(g.done);
}

// ---- bulk copies and stores ---------------------------------------------------------------------

void AsyncRules::fences(int thread, Here) {
  begin();
  publish(thread);
  clock(thread).raise(fence_agent(agent_of(thread)), now(thread));
}

void AsyncRules::fences_global(int thread) {
  begin();
  publish(thread);
  clock(thread).raise(agent_of(AgentKind::global_fence, thread), now(thread));
}

void AsyncRules::commits_stores(int thread) {
  begin();
  ++mine(thread).stores;
}

void AsyncRules::awaits_stores(int thread, int pending, bool is_read) {
  begin();
  Mine& m = mine(thread);
  const std::int64_t done = m.stores - pending;
  if (done <= 0) return;
  m.stores_read = std::max(m.stores_read, done);
  clock(thread).raise(agent_of(AgentKind::reader, thread), static_cast<std::uint32_t>(done));
  if (is_read) return;
  clock(thread).raise(agent_of(AgentKind::storer, thread), static_cast<std::uint32_t>(done));
  complete_stores(thread, done);
}

void AsyncRules::commits_async() {
  if (is_on()) ++mine(recorder_.thread_).copies;
}

void AsyncRules::awaits_async(int pending) {
  if (!is_on()) return;
  const int thread = recorder_.thread_;
  Mine& m = mine(thread);
  const std::int64_t done = m.copies - pending;
  if (done <= 0) return;
  m.copies_awaited = std::max(m.copies_awaited, done);
  clock(thread).raise(agent_of(AgentKind::copier, thread), static_cast<std::uint32_t>(done));
}

// ---- matrix units -------------------------------------------------------------------------------

void AsyncRules::begins_units(int thread, Here) {
  begin();
  mine(thread).is_fenced = true;
}

void AsyncRules::starts_unit(int thread, const UnitCall& call) {
  begin();
  Mine& m = mine(thread);
  m.has_unfenced = m.has_unfenced || !m.is_fenced;
  for (const std::uint64_t part : {call.a, call.b, std::uint64_t{call.keep}})
    m.calls = (m.calls + part + 1) * 0x9e3779b97f4a7c15u;
  m.started.push_back(static_cast<const std::byte*>(call.sums));
}

void AsyncRules::reads_operand(int thread, std::size_t shared, std::size_t bytes) {
  begin();
  mine(thread).operands.push_back({shared, bytes});
}

void AsyncRules::commits_units(int thread, Here here) {
  begin();
  Mine& m = mine(thread);
  const std::int64_t number = m.units++;
  for (const std::byte* each : std::exchange(m.started, {})) m.sums.push_back({each, number, here});
  m.last_unit_here = here;
  if (std::exchange(m.has_unfenced, false))
    report_units(thread,
                 "starts a matrix instruction without a fence after the last access to its "
                 "sums",
                 here, {}, -1);
  const int warpgroup = thread / kWarpgroup;
  auto& groups = units_[static_cast<std::size_t>(warpgroup)];
  UnitGroup& group = groups[number];
  const std::uint64_t calls = std::exchange(m.calls, 0);
  std::vector<Operand> operands = std::exchange(m.operands, {});
  if (group.started++ == 0) {
    group.calls = calls, group.thread = thread, group.here = here;
    group.before = clock(thread);
    group.operands = std::move(operands);
    group.since.resize(kWarpgroup);
  } else {
    if (group.calls != calls)
      report_units(thread, "starts another product than the other warps of its warpgroup", here,
                   group.here, group.thread);
    group.before.intersect(clock(thread));
  }
  publish(thread);
  group.since[nth(thread % kWarpgroup)] = now(thread);
  if (group.started < kWarpgroup) return;
  complete_units(warpgroup, number, group);
  groups.erase(number);
}

void AsyncRules::complete_units(int warpgroup, std::int64_t number, UnitGroup& group) {
  Trace trace = trace_of(group.thread, Access::load, group.here);
  trace.agent = agent_of(AgentKind::units, warpgroup);
  trace.time = static_cast<std::uint32_t>(number);
  judged_ = &group;
  for (const Operand& each : group.operands)
    judge(kSharedRegion, each.shared, each.bytes, {trace, &group.before, true});
  judged_ = nullptr;
}

void AsyncRules::awaits_units(int thread, int pending) {
  begin();
  Mine& m = mine(thread);
  const std::int64_t done = m.units - pending;
  if (done <= 0) return;
  clock(thread).raise(agent_of(AgentKind::units, thread / kWarpgroup),
                      static_cast<std::uint32_t>(done));
  std::erase_if(m.sums, [&](const Sums& each) { return each.group < done; });
}

void AsyncRules::touches_sums(const void* first, std::size_t bytes, Here here) {
  if (!is_on()) return;
  const int thread = recorder_.thread_;
  Mine& m = mine(thread);
  m.is_fenced = false;
  const auto* const begin = static_cast<const std::byte*>(first);
  for (const Sums& each : m.sums) {
    if (each.first < begin || each.first >= begin + bytes) continue;
    Mistake mistake = recorder_.mistake_at(Kind::mma_not_awaited, Memory::local, here, thread);
    mistake.other_here = each.here;
    mistake.other_thread = thread;
    mistake.tensor = "sums";
    mistake.product = m.sums.front().group;
    return recorder_.add_mistake(std::move(mistake));
  }
}

}  // namespace tessera::check
