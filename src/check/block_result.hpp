// What the check of one block leaves, in places of the source that are still compared by address.
// Results of blocks are added up in the order of the blocks. Private to src/check.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tessera/check/report.hpp"
#include "tessera/core/here.hpp"

namespace tessera::check {

/// One kind of mistake between two places, with its first occurrence.
struct Mistake {
  Kind kind = Kind::race;
  Severity severity = Severity::error;
  Memory memory = Memory::none;
  Here here, other_here;  ///< line 0: none
  bool writes = true, other_writes = true;
  bool is_atomic = false, other_is_atomic = false;
  bool same_value = false;
  int thread = -1, other_thread = -1;
  std::int64_t block = 0, other_block = -1;  ///< linear; the other -1: the same
  std::string tensor, superstep, detail;
  std::vector<index_t> element;
  std::int64_t count = 1;
};

/// Everything that was counted for one access of the source: one place, kind, memory and width.
struct AccessTotals {
  Here here;
  AccessSample sample;  ///< without location
};

/// An element of an output as one block left it: what other blocks may collide with.
struct Touched {
  int region;
  std::uint64_t offset, bytes;
  std::uint64_t value;
  Here write, read;
  int writer, reader;
  bool plain_write, atomic_write, plain_read;
};

struct PlaceCounters {
  Here here;
  Counters counters;
};

struct BlockResult {
  std::int64_t block = 0;
  std::vector<Mistake> mistakes;
  std::vector<PlaceCounters> places;
  std::vector<SuperstepCounters> supersteps;
  std::vector<AccessTotals> accesses;
  std::vector<Touched> touched;
};

}  // namespace tessera::check
