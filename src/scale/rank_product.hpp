// One rank's part of a product, as a ScalePlan cuts it: reads its shares of A and B, sends them to
// the ranks that use them, receives what its box needs slice by slice, multiplies, and passes sums
// on to the rank with the next range of K, or finished elements of C to `write`. The result has the
// same bits as on one rank: sums travel in order of k. Called by `tessera multiply` under MPI.
#pragma once

#include "block_work.hpp"
#include "counted.hpp"
#include "shares.hpp"
#include "steps.hpp"

namespace tessera::scale {

/// A or B where the ranks hold it already.
struct Held {
  Shares shares;            ///< of all ranks
  std::vector<Array> data;  ///< by share: that of this rank, all of one order
  Order order = Order::c;
};

/// Where the sums of C go, if the ranks hold it.
struct Gathered {
  Shares shares;
  /// Receives finished sums of a part of this rank's share, by its number.
  std::function<void(std::size_t, const Part&, const Array&)> take;
};

struct RankProduct {
  const ScalePlan* scale = nullptr;
  Plan plan;  ///< for the whole product: algorithm, threads, alpha, beta
  Source a, b, c0;
  Write write;
  /// Instead of the files of a and b and of `write`.
  const Held *held_a = nullptr, *held_b = nullptr;
  const Gathered* c = nullptr;
  /// Blocks that need no work: the same on all ranks, from with_predecessors().
  Finished is_finished = {};
  /// Receives the number of a block of this rank after `write` has accepted all of it.
  std::function<void(index_t)> finished = [](index_t) {};
  /// Receives the multiply-adds of this rank so far, after each slice.
  std::function<void(double)> progress = [](double) {};
};

/// Adds, to finished blocks of C, those of ranks whose sums only they would continue.
Finished with_predecessors(const ScalePlan& plan, Finished finished);

/// All ranks call it together; it returns when this rank has nothing more to send or to write, and
/// all others have called it. Throws the errors of reading, writing and memory, after
/// transport.fail().
Traffic run_rank(const RankProduct& product, Transport& transport);

}  // namespace tessera::scale
