// Counts bulk copies, bulk stores and operands of warpgroup units, and records when the phases of
// gates begin and are awaited. Passes each event on to the rules if they are active. Private to
// src/check.
#pragma once

#include <utility>
#include <vector>

#include "check/block/result.hpp"
#include "tessera/check/report.hpp"
#include "tessera/simt/async_observer.hpp"

namespace tessera::check {

class BlockRecorder;

class AsyncCounts final : public AsyncObserver {
 public:
  /// `rules` may be null.
  AsyncCounts(BlockRecorder& recorder, AsyncObserver* rules) : recorder_(recorder), rules_(rules) {}

  /// Starts a new block.
  void start();
  std::vector<GatePhase> take_phases() { return std::exchange(phases_, {}); }
  std::vector<GateLines> take_gates() { return std::exchange(gates_, {}); }
  std::vector<TileLine> take_tiles() { return std::exchange(tiles_, {}); }

  void opens(int thread, int gate, std::size_t shared, int arrivals, Here here) override;
  void publishes(int thread) override;
  void arrives(int thread, int rank, int gate, std::int64_t expected_bytes, Here here) override;
  void phase_ends(int gate) override;
  void waits_at(int thread, int gate, unsigned phase, Here here) override;
  void passes(int thread, int gate) override;
  void loads(int thread, const BulkMove& move, Here here) override;
  void copies(int thread, int rank, int gate, const BulkMove& move, Here here) override;
  bool stores(int thread, const BulkMove& move, Here here) override;
  void commits_stores(int thread) override;
  void awaits_stores(int thread, int pending, bool is_read) override;
  void fences(int thread, Here here) override;
  void fences_global(int thread) override;
  void begins_units(int thread, Here here) override;
  void starts_unit(int thread, const UnitCall& call) override;
  void reads_operand(int thread, std::size_t shared, std::size_t bytes) override;
  void commits_units(int thread, Here here) override;
  void awaits_units(int thread, int pending) override;
  void touches_sums(const void* first, std::size_t bytes, Here here) override;
  void adds_to_nothing(Here here) override;

 private:
  static constexpr std::size_t kMostPhases = 4096;
  /// Calls body(counters) for those of the source position and those of the superstep.
  template <class Body>
  void count(Here here, const Body& body);

  std::int64_t base_of(const BulkMove& move);
  /// A copy of this block, or of another one of its cluster, brings bytes for the current phase.
  void fills(int gate, std::int64_t bytes);
  /// The line has a tile that begins there, or earlier.
  void note_tile(std::size_t shared, Here here);

  BlockRecorder& recorder_;
  AsyncObserver* rules_;
  std::vector<GatePhase> phases_;
  std::vector<GateLines> gates_;
  std::vector<TileLine> tiles_;
  std::vector<std::int64_t> ended_;  ///< phases, by gate
  std::vector<std::size_t> bytes_;   ///< of the operands of the current group
  std::vector<int> passes_;          ///< through the banks for 128 bytes of each
  Here units_here_;                  ///< of the group that a thread starts
  std::int64_t time_ = 0;
};

}  // namespace tessera::check
