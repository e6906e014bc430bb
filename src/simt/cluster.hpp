// The blocks of a cluster: each has its own threads and shared storage, and they run on one OS
// thread, one at a time. A block has its turn until none of its threads can continue, or all only
// poll; then another has it. Private to src/simt.
#pragma once

#include <exception>
#include <vector>

#include "block/state.hpp"

namespace tessera {

struct BlockScheduler::Cluster {
  std::vector<State*> blocks;  ///< by rank
  std::vector<int> order;      ///< of ranks, in which they have their turns
  std::vector<bool> has_ended;
  int running = 0;  ///< the rank whose turn it is
  int quiet = 0;    ///< consecutive turns without progress
  detail::Residents::Rest rest;
  std::exception_ptr failure;  ///< of the first block that failed

  Cluster(std::span<BlockScheduler* const> blocks, std::span<const BlockTask> tasks);

  /// The next rank after this one whose block runs and that `takes`; -1: there is none.
  template <class Takes>
  int next_after(int rank, const Takes& takes) const {
    const auto at = std::find(order.begin(), order.end(), rank) - order.begin();
    const auto count = std::ssize(order);
    for (std::ptrdiff_t step = 1; step < count; ++step) {
      const int other = order[static_cast<std::size_t>((at + step) % count)];
      const auto i = static_cast<std::size_t>(other);
      if (!has_ended[i] && takes(*blocks[i])) return other;
    }
    return -1;
  }
  /// Counts a turn without progress: has every running block had one?
  bool all_are_quiet() { return ++quiet >= std::count(has_ended.begin(), has_ended.end(), false); }
  /// The block that had the turn has ended.
  void end_block();
};

/// body(block) for each of the cluster, or for the one that runs alone.
template <class State, class Body>
void for_each_member(State& one, const Body& body) {
  if (one.cluster == nullptr) return body(one);
  for (State* each : one.cluster->blocks) body(*each);
}

}  // namespace tessera
