// Why no thread of a block, or of the blocks of a cluster, can continue: where each of them waits,
// and which of the waits does not depend on another one. See state.hpp.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "simt/cluster.hpp"
#include "tessera/core/text.hpp"

namespace tessera {

using detail::AsyncMachine;
using detail::ClusterStep;
using detail::GateState;
using detail::NamedBarrier;
using detail::Run;
using detail::Wait;

namespace detail {
std::string describe(const std::string& kind, const Wait& wait) {
  const std::string_view file = wait.where.file;
  return cat(kind, wait.name != nullptr ? cat(" '", wait.name, "'") : "", " at ",
             file.substr(file.rfind('/') + 1), ":", wait.where.line,
             wait.where.column > 0 ? cat(":", wait.where.column) : "");
}
}  // namespace detail
using detail::describe;

namespace {
constexpr int kThreadsOfUnit = 128;
constexpr std::size_t kMostPlaces = 4;  ///< that a message lists

std::string hex(std::uint64_t mask) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(mask));
  return text;
}
}  // namespace

// ---- who waits for whom -------------------------------------------------------------------------

int BlockScheduler::State::named_of(int thread) const {
  for (std::size_t id = 0; id < named.size(); ++id) {
    const auto& all = named[id].threads;
    if (std::find(all.begin(), all.end(), thread) != all.end()) return static_cast<int>(id);
  }
  return -1;
}

std::vector<BlockScheduler::State::Member> BlockScheduler::State::awaited_at_named(
    int thread) const {
  const int id = named_of(thread);
  if (id < 0) return {};
  const NamedBarrier& barrier = named[static_cast<std::size_t>(id)];
  const auto has_come = [&](int each) {
    return std::find(barrier.threads.begin(), barrier.threads.end(), each) != barrier.threads.end();
  };
  std::vector<Member> out;
  for (int each = 0; each < threads; ++each) {
    const bool came_before =
        std::find(barrier.last.begin(), barrier.last.end(), each) != barrier.last.end();
    const bool warp_has_come =
        std::any_of(barrier.threads.begin(), barrier.threads.end(),
                    [&](int other) { return other >> warp_shift == each >> warp_shift; });
    if ((came_before || warp_has_come) && !has_come(each)) out.push_back({this, each});
  }
  const auto known = std::ssize(barrier.threads) + std::ssize(out);
  return known < barrier.count ? std::vector<Member>() : out;
}

std::vector<BlockScheduler::State::Member> BlockScheduler::State::awaited_at_gate(
    int thread) const {
  const GateState* const found = machine->find(gate_waits[static_cast<std::size_t>(thread)].gate);
  if (found == nullptr) return {};  // overwritten
  const GateState& g = *found;
  std::vector<Member> out;
  const auto add = [&](const std::vector<std::uint64_t>& last) {
    for (std::size_t i = 0; i < last.size(); ++i) {
      if (last[i] == 0 || last[i] > g.phases) continue;  // never, or in this phase
      const auto of = i / static_cast<std::size_t>(threads);
      out.push_back({cluster == nullptr ? this : cluster->blocks[of],
                     static_cast<int>(i % static_cast<std::size_t>(threads))});
    }
  };
  if (g.missing > 0) add(g.arrived);
  else if (g.bytes > 0) add(g.copied);
  return std::ssize(out) < g.missing ? std::vector<Member>() : out;
}

std::vector<BlockScheduler::State::Member> BlockScheduler::State::awaited(int thread) const {
  const Run mine = run[static_cast<std::size_t>(thread)];
  const int warp = thread >> warp_shift, group = thread / kThreadsOfUnit;
  std::vector<Member> out;
  const auto absent = [&](int first, int count) {
    for (int each = first; each < first + count; ++each) {
      if (run[static_cast<std::size_t>(each)] != mine) out.push_back({this, each});
    }
  };
  switch (mine) {
    case Run::at_barrier: absent(0, threads); break;
    case Run::at_warp_barrier:
    case Run::at_collective: absent(warp << warp_shift, lanes_of(warp)); break;
    case Run::at_unit_wait: absent(group * kThreadsOfUnit, threads_of(group)); break;
    case Run::at_named_barrier: return awaited_at_named(thread);
    case Run::at_gate: return awaited_at_gate(thread);
    case Run::at_cluster_wait:
      for_each_member(*this, [&](const State& block) {
        for (int each = 0; each < block.threads; ++each) {
          const auto i = static_cast<std::size_t>(each);
          const bool has_come =
              !block.at_cluster.empty() && block.at_cluster[i] == ClusterStep::has_come;
          if (!has_come && block.run[i] != Run::finished) out.push_back({&block, each});
        }
      });
      break;
    default: break;
  }
  return out;
}

bool BlockScheduler::State::waits_at_gates() const {
  bool any = false;
  for_each_member(*this, [&](const State& block) {
    any = any || std::find(block.run.begin(), block.run.end(), Run::at_gate) != block.run.end();
  });
  return any;
}

BlockScheduler::State::Member BlockScheduler::State::root_of_standstill() const {
  Member root{}, first{};  // first: of those at gates
  int least = 0, least_of_first = 0;
  const auto take = [](Member& best, int& fewest, const Member& each, int passed) {
    if (best.block != nullptr && passed >= fewest) return;
    best = each, fewest = passed;
  };
  for_each_member(*this, [&](const State& block) {
    for (int thread = 0; thread < block.threads; ++thread) {
      const auto i = static_cast<std::size_t>(thread);
      if (!detail::is_waiting(block.run[i])) continue;
      const int passed = block.gate_waits.empty() ? 0 : block.gate_waits[i].passed;
      if (block.run[i] == Run::at_gate) take(first, least_of_first, {&block, thread}, passed);
      const std::vector<Member> others = block.awaited(thread);
      const bool depends = std::any_of(others.begin(), others.end(), [](const Member& each) {
        return detail::is_waiting(each.block->run[static_cast<std::size_t>(each.thread)]);
      });
      // Of several, the one that has come least far.
      if (!depends) take(root, least, {&block, thread}, passed);
    }
  });
  return root.block != nullptr ? root : first;
}

// ---- what is said of it -------------------------------------------------------------------------

std::string BlockScheduler::State::named_place(int thread) const {
  const int id = named_of(thread);
  if (id < 0) return "wait at a named barrier";
  return describe(cat("wait at barrier ", id, ", which waits for ",
                      named[static_cast<std::size_t>(id)].count, " threads,"),
                  *wait[static_cast<std::size_t>(thread)]);
}

std::string BlockScheduler::State::place_of(int thread) const {
  const auto i = static_cast<std::size_t>(thread);
  switch (run[i]) {
    case Run::at_barrier: return describe("wait at the barrier", *wait[i]);
    case Run::at_warp_barrier: return describe("wait at the warp barrier", *wait[i]);
    case Run::at_collective:
      return cat(describe("wait", *wait[i]), " for the lanes of mask ", hex(collective[i]->mask));
    case Run::at_named_barrier: return named_place(thread);
    case Run::at_cluster_wait: return describe("wait at the barrier of their cluster", *wait[i]);
    case Run::at_unit_wait: return describe("wait for their warpgroup's units", *wait[i]);
    case Run::at_gate:
      return describe(cat("wait for ", machine->text_of(gate_waits[i].gate), ","), *wait[i]);
    case Run::ready:
      if (polls.empty() || polls[i].here.line == 0) return {};
      return describe("find the same value again and again", {polls[i].here, nullptr});
    case Run::finished: return "have ended";
    default: return {};
  }
}

std::string BlockScheduler::State::places_text(const Member& root) const {
  struct Place {
    std::string text;
    Member first;
    int count;
  };
  std::vector<Place> places;
  int all = 0, elsewhere = 0;
  const auto note = [&](const Member& each, int count) {
    const std::string text = each.block->place_of(each.thread);
    if (text.empty()) return;
    const auto known = std::find_if(places.begin(), places.end(),
                                    [&](const Place& place) { return place.text == text; });
    if (known != places.end()) known->count += count;
    else if (places.size() < kMostPlaces) places.push_back({text, each, count});
    else elsewhere += count;
  };
  if (root.block != nullptr) note(root, 0);
  for_each_member(*this, [&](const State& block) {
    all += block.threads;
    for (int thread = 0; thread < block.threads; ++thread) note({&block, thread}, 1);
  });
  std::string text;
  for (const Place& each : places) {
    text += cat(
        text.empty() ? "" : ", ", each.count, " of ", all, " threads",
        cluster != nullptr && text.empty() ? " of the cluster " : " ", each.text,
        " (first: thread ", each.first.block->thread_text(each.first.thread),
        cluster != nullptr ? cat(" of block ", to_string(each.first.block->task.block)) : "", ")");
  }
  return elsewhere == 0 ? text : cat(text, ", and ", elsewhere, " elsewhere");
}

std::string BlockScheduler::State::missing_text(int first_waiting) const {
  for (int thread = 0; thread < threads; ++thread) {
    const auto i = static_cast<std::size_t>(thread);
    if (run[i] != Run::at_collective) continue;
    const int first = thread >> warp_shift << warp_shift;
    std::string lanes;
    int count = 0;
    for (int lane = 0; lane < lanes_of(thread >> warp_shift); ++lane) {
      const auto other = static_cast<std::size_t>(first + lane);
      const bool comes = run[other] == Run::at_collective &&
                         collective[other]->mask == collective[i]->mask &&
                         detail::identical(*wait[other], wait[i]->name, wait[i]->where);
      if ((collective[i]->mask >> lane & 1) == 0 || comes) continue;
      if (++count <= 4) lanes += cat(count == 1 ? "" : ", ", lane);
    }
    return cat("; of the lanes that the mask names, ", lanes, count > 4 ? ", ..." : "", " of warp ",
               thread >> warp_shift, count == 1 ? " does" : " do", " not arrive");
  }
  int id = first_waiting < 0 ? -1 : named_of(first_waiting);
  for (std::size_t each = 0; each < named.size() && id < 0; ++each)
    if (!named[each].threads.empty()) id = static_cast<int>(each);
  if (id < 0) return {};
  const auto& [count, came, last, waiting, met] = named[static_cast<std::size_t>(id)];
  int missing = 0;
  while (missing < threads && std::find(came.begin(), came.end(), missing) != came.end()) ++missing;
  return cat("; barrier ", id, " lacks ", count - static_cast<int>(came.size()), " threads",
             missing < threads ? cat(", such as thread ", thread_text(missing)) : "");
}

Error BlockScheduler::State::stuck(int thread) const {
  const Run at = thread < 0 ? Run::at_barrier : run[static_cast<std::size_t>(thread)];
  const bool is_at_gate = at == Run::at_gate, is_named = at == Run::at_named_barrier;
  const std::string missing = thread < 0 ? missing_text() : is_named ? missing_text(thread) : "";
  return Error(
      Category::kernel,
      cat(kernel_and_block(),
          is_at_gate ? ": a wait that no thread ends: "
                     : ": a barrier that not all threads reach: ",
          places_text({thread < 0 ? nullptr : this, thread}), missing),
      {}, {},
      is_at_gate
          ? "let as many arrive as the gate counts, expect the bytes of whole boxes, and wait "
            "for the parity of the phase that is meant"
      : is_named ? "let as many threads come to a named barrier as it waits for"
                 : "move the barrier out of the branch or loop that some threads leave early");
}

BlockFault BlockScheduler::State::stuck_fault() const {
  BlockFault fault{.kind = BlockFault::Kind::missing, .thread = -1, .other = -1};
  for (int thread = 0; thread < threads; ++thread) {
    const auto i = static_cast<std::size_t>(thread);
    const bool waits = detail::is_waiting(run[i]);
    if (waits && fault.thread < 0) fault.thread = thread, fault.here = wait[i]->where;
    else if (waits && fault.other_here.line == 0 &&
             !detail::identical(*wait[i], wait[static_cast<std::size_t>(fault.thread)]->name,
                                fault.here))
      fault.other = thread, fault.other_here = wait[i]->where;
    else if (!waits && fault.other < 0) fault.other = thread;
  }
  return fault;
}

void BlockScheduler::State::fail_at(int thread) {
  const auto i = static_cast<std::size_t>(thread);
  const Here here = wait[i]->where;
  if (run[i] != Run::at_gate) {
    const auto others = awaited(thread);
    return fail({.kind = BlockFault::Kind::missing,
                 .thread = thread,
                 .other = others.empty() || others[0].block != this ? -1 : others[0].thread,
                 .here = here},
                [&] { return stuck(thread); });
  }
  const GateState* const gate = machine->find(gate_waits[i].gate);
  if (gate != nullptr && gate_waits[i].is_arrival) return fail_arrival(thread, *gate, here);
  BlockFault fault{.kind = BlockFault::Kind::stuck, .thread = thread, .here = here};
  for (std::size_t other = 0; other < run.size() && fault.other_here.line == 0; ++other) {
    if (detail::is_waiting(run[other]) && !detail::identical(*wait[other], wait[i]->name, here))
      fault.other_here = wait[other]->where;
  }
  fail(fault, [&] { return stuck(thread); });
}

void BlockScheduler::State::fail_stuck() {
  if (!waits_at_gates()) return fail(stuck_fault(), [&] { return stuck(-1); });
  const auto [waiting, thread] = root_of_standstill();
  if (waiting == this) return fail_at(thread);
  State& other = *cluster->blocks[static_cast<std::size_t>(waiting->rank)];
  if (task.observer != nullptr) task.observer->fails({.kind = BlockFault::Kind::elsewhere});
  other.fail_at(thread);
  failure = other.failure;
}

}  // namespace tessera
