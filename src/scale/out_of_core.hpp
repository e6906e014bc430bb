// Runs a Schedule on files: a thread reads the slices of A and B one ahead of the arithmetic, sums
// stay in memory, and another thread passes finished blocks of C on. The result has the same bits
// as the whole product: a sum that is cut along K continues the same chain. Called by `tessera
// multiply`.
#pragma once

#include "block_work.hpp"

namespace tessera::scale {

struct OutOfCore {
  Schedule schedule;
  Types types;
  Plan plan;  ///< for the whole product: algorithm, threads, alpha, beta
  Source a, b, c0;
  /// Receives the parts of a block in the order of parts_of(), rows before their mirror; like
  /// `finished`, on a thread of its own.
  Write write;
  /// The byte in a page at which `write` prefers an element of its type to begin.
  std::function<index_t(index_t, index_t)> place = [](index_t, index_t) { return 0; };
  /// Blocks that need no work, by their numbers in the order of the schedule.
  std::function<bool(index_t)> is_finished = [](index_t) { return false; };
  /// Receives the number of a block after `write` has accepted all of its parts.
  std::function<void(index_t)> finished = [](index_t) {};
  /// Receives the bytes moved so far, after each slice.
  std::function<void(double)> progress = [](double) {};
};

/// Throws the errors of reading and writing the files.
void run_out_of_core(const OutOfCore& product);

}  // namespace tessera::scale
