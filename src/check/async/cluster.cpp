// What blocks of a cluster do to each other: see rules.hpp.
#include <utility>

#include "check/block/recorder.hpp"
#include "check/cluster_images.hpp"
#include "rules.hpp"

namespace tessera::check {

using tessera::detail::Access;

constinit thread_local const ClusterImages* cluster_images = nullptr;

void ClusterRules::start(std::vector<AsyncRules*> members, int threads) {
  blocks = std::move(members);
  agents.clear(), agent_index.clear(), gates.clear(), meetings.clear();
  ended = {};
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (int thread = 0; thread < threads; ++thread) agents.push_back({AgentKind::thread, thread});
    agents.resize(agents.size() + static_cast<std::size_t>(threads));  // the fences of each
  }
}

ClusterRules::Meeting& ClusterRules::meeting(std::int64_t number) {
  meetings.erase(number - 2);  // all have passed it, since they came to this one
  return meetings[number];
}

void AsyncRules::start(ClusterRules& cluster, int rank) {
  cluster_ = &cluster, rank_ = rank;
  first_ = rank * 2 * recorder_.threads_;
}

void AsyncRules::comes_to_cluster(int thread, std::int64_t number) {
  begin();
  cluster_->meeting(number).clock.join(publish(thread));
}

void AsyncRules::passes_cluster(int thread, std::int64_t number) {
  AgentClock& own = clock(thread);
  own.join(cluster_->meeting(number).clock);
  own.join(cluster_->ended.clock);
}

std::string AsyncRules::block_text() const { return to_string(recorder_.block_); }

void AsyncRules::name_blocks(Mistake& mistake, int rank, int other_rank) const {
  mistake.block = block_at(rank).recorder_.block_.linear;
  mistake.other_block = rank == other_rank ? -1 : block_at(other_rank).recorder_.block_.linear;
}

void AsyncRules::is_reached(const Trace& trace, bool is_access) {
  reached_[trace.agent] = {trace, is_access};
}

void AsyncRules::reach(int rank, std::uint64_t offset, std::size_t bytes, Access how, Here here) {
  begin();
  AsyncRules& there = block_at(rank);
  there.begin();
  const int thread = recorder_.thread_;
  Trace trace = trace_of(thread, how, here);
  trace.site = there.recorder_.site_of(here);
  if (clock(thread).at(there.first_) == 0 && !std::exchange(there.is_start_told_, true)) {
    Mistake mistake = recorder_.mistake_at(Kind::cluster_exit, Memory::shared, here, thread);
    mistake.at_start = true;
    mistake.detail = cat(verb_of(trace), " shared memory of block ", there.block_text());
    recorder_.add_mistake(std::move(mistake));
  }
  there.judge(kSharedRegion, offset, bytes, {trace, &clock(thread)});
  there.is_reached(trace, true);
}

bool AsyncRules::judge_exit() {
  AgentClock end;
  for (const AgentClock& each : clocks_) end.join(each);
  bool is_early = false;
  for (const auto& [who, last] : reached_) {
    const auto& [trace, is_access] = last;
    if (end.covers(who, trace.time)) continue;
    is_early = true;
    Mistake mistake =
        recorder_.mistake_at(Kind::cluster_exit, Memory::shared, here_of(trace.site), trace.thread);
    name_blocks(mistake, trace.rank, trace.rank);
    mistake.detail = is_access ? cat(verb_of(trace), " shared memory of block ")
                     : agent(trace).kind == AgentKind::gate ? "starts a bulk copy into block "
                                                            : "arrives at a gate of block ";
    mistake.detail += block_text();
    mistake.by_copy = agent(trace).kind == AgentKind::gate;
    recorder_.add_mistake(std::move(mistake));
  }
  return is_early;
}

}  // namespace tessera::check
