// How the blocks of a cluster take turns, synchronize and end: see cluster.hpp.
#include "cluster.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tessera/core/random.hpp"
#include "tessera/simt/async_observer.hpp"

namespace tessera {

using detail::AsyncMachine;
using detail::ClusterStep;
using detail::GateState;
using detail::Run;
using detail::Wait;

BlockScheduler::Cluster::Cluster(std::span<BlockScheduler* const> members,
                                 std::span<const BlockTask> tasks)
    : order(members.size()), has_ended(members.size()) {
  std::iota(order.begin(), order.end(), 0);
  if (tasks[0].order == ThreadOrder::backward) std::reverse(order.begin(), order.end());
  for (std::size_t i = 0; i < members.size(); ++i) {
    State& block = members[i]->state();
    block.begin(tasks[i]);
    blocks.push_back(&block);
  }
  if (tasks[0].order == ThreadOrder::shuffled) {
    for (std::size_t i = order.size(), draw = 0; i > 1; --i)
      std::swap(order[i - 1], order[random_bits(~blocks[0]->seed, draw++) % i]);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    blocks[i]->cluster = this;
    blocks[i]->rank = static_cast<int>(i);
  }
  running = order[0];
}

void BlockScheduler::Cluster::end_block() {
  State& block = *blocks[static_cast<std::size_t>(running)];
  has_ended[static_cast<std::size_t>(running)] = true;
  quiet = 0;
  if (block.machine && block.machine->awaits_another_block() && !block.failure)
    block.fail({.kind = BlockFault::Kind::cluster_exit, .thread = -1}, [&] {
      return Error(Category::kernel,
                   cat(block.kernel_and_block(),
                       " has ended while a copy of another block of its cluster is on its way into "
                       "its shared storage"),
                   {}, {}, "wait for the copy, and let all blocks reach cluster_barrier()");
    });
  block.end();
  if (!failure && block.failure) {
    failure = block.failure;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (!has_ended[i] && blocks[i]->task.observer != nullptr)
        blocks[i]->task.observer->fails({.kind = BlockFault::Kind::elsewhere});
    }
  }
  block.failure = nullptr;
  running = next_after(running, [&](const State& each) {
    // In a cluster that has failed, only blocks with threads to unwind continue.
    return !failure || each.suspended != nullptr;
  });
}

void BlockScheduler::run_together(std::span<BlockScheduler* const> blocks,
                                  std::span<const BlockTask> tasks) {
  Cluster cluster(blocks, tasks);
  while (cluster.running >= 0) {
    State& block = *cluster.blocks[static_cast<std::size_t>(cluster.running)];
    if (block.task.observer != nullptr) block.task.observer->takes_turn();
    block.go();
    if (block.suspended == nullptr) cluster.end_block();
  }
  if (cluster.failure) std::rethrow_exception(cluster.failure);
}

int BlockScheduler::cluster_rank() const { return state_->rank; }

// ---- whose turn it is ----

bool BlockScheduler::State::can_run() const {
  return std::any_of(run.begin(), run.end(),
                     [](Run each) { return each == Run::ready || each == Run::unstarted; });
}

bool BlockScheduler::State::is_stopping() const {
  if (cluster == nullptr) return stopping;
  return std::any_of(cluster->blocks.begin(), cluster->blocks.end(),
                     [](const State* each) { return each->stopping.load(); });
}

detail::Residents::Rest& BlockScheduler::State::resting() {
  return cluster != nullptr ? cluster->rest : rest;
}

bool BlockScheduler::State::has_moved() {
  if (!std::exchange(moved, false)) return false;
  quiet_rounds = 0;
  is_polling = false;
  if (cluster != nullptr) cluster->quiet = 0;
  if (task.residents != nullptr) task.residents->go_on(resting());
  return true;
}

void BlockScheduler::State::wait_for(int next) {
  cluster->running = next;
  suspended = current;
  resume(*current, main);
  if (cluster->failure && !cancelled) {
    failure = cluster->failure;
    cancel();
  }
}

void BlockScheduler::State::pass_turn() {
  if (cluster == nullptr || cancelled) return;
  const int next = cluster->next_after(rank, [](const State&) { return true; });
  if (next >= 0) wait_for(next);
}

bool BlockScheduler::State::let_others_run() {
  if (cancelled) return false;
  const int next = cluster->next_after(
      rank, [](const State& other) { return !other.is_polling && other.can_run(); });
  if (next >= 0) wait_for(next);
  return next >= 0;
}

bool BlockScheduler::State::wait_for_turn() {
  if (cancelled) return false;
  has_moved();
  const bool all_are_quiet = cluster->all_are_quiet();
  const int next = cluster->next_after(
      rank, [&](const State& other) { return !all_are_quiet || other.can_run(); });
  if (next >= 0) wait_for(next);
  return next >= 0;
}

// ---- how blocks meet and reach each other ----

void BlockScheduler::State::meet_cluster() {
  bool all_have_come = true, any_has_come = false;
  for_each_member(*this, [&](const State& block) {
    all_have_come = all_have_come && block.come_to_cluster + block.finished >= block.threads;
    for (std::size_t i = 0; i < block.run.size() && all_have_come; ++i) {
      const bool has_come =
          !block.at_cluster.empty() && block.at_cluster[i] == ClusterStep::has_come;
      any_has_come = any_has_come || has_come;
      all_have_come = has_come || block.run[i] == Run::finished;
    }
  });
  if (!all_have_come || !any_has_come) return;
  for_each_member(*this, [](State& block) {
    std::vector<int> waiting;
    for (int thread = 0; thread < static_cast<int>(block.at_cluster.size()); ++thread) {
      const auto i = static_cast<std::size_t>(thread);
      if (block.at_cluster[i] != ClusterStep::has_come) continue;
      block.at_cluster[i] = ClusterStep::all_have_come;
      if (block.run[i] == Run::at_cluster_wait) waiting.push_back(thread);
    }
    block.come_to_cluster = 0;
    if (block.task.observer != nullptr && !waiting.empty())
      block.task.observer->group_met(waiting, "cluster", true,
                                     block.wait[static_cast<std::size_t>(waiting[0])]->where);
    block.release(waiting);
  });
}

BlockScheduler::State& BlockScheduler::State::member(int thread, int other, const char* what,
                                                     const Here& here) {
  const int count = cluster == nullptr ? 1 : static_cast<int>(cluster->blocks.size());
  if (other < 0 || other >= count)
    misused(thread, here, cat(what, " a block that the cluster does not have"),
            count == 1 ? "rank 0" : cat("ranks 0 to ", count - 1), cat("rank ", other),
            "declare static constexpr Dim3 cluster with as many blocks");
  if (cluster == nullptr) return *this;
  const auto i = static_cast<std::size_t>(other);
  if (cluster->has_ended[i])
    misused(thread, here,
            cat(what, " block ", to_string(cluster->blocks[i]->task.block),
                " of the cluster, which has ended"),
            "a block that runs", {}, "let all blocks reach cluster_barrier() before one ends",
            BlockFault::Kind::cluster_exit);
  return *cluster->blocks[i];
}

GateState& BlockScheduler::State::gate_in(State& block, int thread, const Gate* gate,
                                          const Here& here) {
  GateState* const found = block.async().find(gate);
  if (found == nullptr)
    misused(thread, here,
            cat("a gate of block ", to_string(block.task.block),
                " of the cluster is used that is not open"),
            "open_gate() by one of its threads first", "a word that no gate has",
            "open it, publish_gates(), then let all blocks reach cluster_barrier()",
            BlockFault::Kind::gate_misused);
  return *found;
}

void CpuAsync::arrive(Gate* gate, int rank, Here here) const {
  BlockScheduler::State& s = scheduler_.state();
  if (s.cancelled) return s.wait_after_failure(thread_);
  BlockScheduler::State& block = s.member(thread_, rank, "an arrival at", here);
  if (&block == &s) return arrive(gate, here);
  Gate* const there = s.in(block, gate);
  GateState& found = s.gate_in(block, thread_, there, here);
  if (s.task.async != nullptr)
    s.task.async->arrives(thread_, rank, block.async().number_of(found), 0, here);
  s.require_missing(thread_, found, here);
  found.note(found.arrived, s.rank * s.threads + thread_);
  if (!AsyncMachine::settle(found, 1, 0)) return;
  if (block.let_through(there) < 0 || s.task.order != ThreadOrder::late) return;
  s.wait_for(rank);
  if (s.cancelled) throw detail::Cancelled{};
}

void CpuAsync::copy(const BulkMap* map, int x, int y, void* to, Gate* gate, unsigned blocks,
                    Here here) const {
  BlockScheduler::State& s = scheduler_.state();
  if (s.cancelled) return s.wait_after_failure(thread_);
  const BulkFields fields = fields_of(*map);
  s.require_box(thread_, fields, x, address(to), "a bulk copy", here);
  const BulkMove move{fields, x, y, address(to)};
  if (s.task.async != nullptr) s.task.async->loads(thread_, move, here);
  for (int rank = 0; blocks >> rank != 0; ++rank) {
    if ((blocks >> rank & 1) == 0) continue;
    BlockScheduler::State& block = s.member(thread_, rank, "a copy into", here);
    Gate* const there = s.in(block, gate);
    GateState& found = s.gate_in(block, thread_, there, here);
    if (s.task.async != nullptr)
      s.task.async->copies(thread_, rank, block.async().number_of(found), move, here);
    auto* const shared = s.in(block, static_cast<std::byte*>(to));
    found.note(found.copied, s.rank * s.threads + thread_);
    if (block.async().start({fields, x, y, shared, there, thread_, &block != &s}))
      block.let_through(there);
  }
}

void CpuAsync::cluster_arrive(Here here) const {
  BlockScheduler::State& s = scheduler_.state();
  if (s.cancelled) return s.wait_after_failure(thread_);
  if (s.at_cluster.empty()) s.at_cluster.resize(static_cast<std::size_t>(s.threads));
  ClusterStep& mine = s.at_cluster[static_cast<std::size_t>(thread_)];
  if (mine != ClusterStep::none)
    s.misused(thread_, here, "a thread arrives at the barrier of its cluster twice",
              "cluster_wait() in between", {}, "let each cluster_arrive() have its cluster_wait()");
  mine = ClusterStep::has_come;
  if (s.task.observer != nullptr) s.task.observer->comes_to_cluster(thread_);
  ++s.come_to_cluster;
  s.moved = true;
  s.meet_cluster();
}

void CpuAsync::cluster_wait(Here here) const {
  BlockScheduler::State& s = scheduler_.state();
  if (s.cancelled) return s.wait_after_failure(thread_);
  const auto i = static_cast<std::size_t>(thread_);
  if (s.at_cluster.empty() || s.at_cluster[i] == ClusterStep::none)
    s.misused(thread_, here, "a thread waits for its cluster and has not arrived",
              "cluster_arrive() first", {}, "let each cluster_wait() have its cluster_arrive()");
  if (s.at_cluster[i] == ClusterStep::has_come) {
    const Wait wait{here, nullptr};
    s.wait[i] = &wait;
    if (s.task.observer != nullptr) s.task.observer->waits(thread_, here);
    s.run[i] = Run::at_cluster_wait;
    s.moved = true;
    s.wait_in_line();
  }
  s.at_cluster[i] = ClusterStep::none;
  if (s.task.observer != nullptr) s.task.observer->passes_cluster(thread_, here);
}

}  // namespace tessera
