// The result of checking one block. Source positions are still compared by address. Results are
// added in the order of the blocks. Private to src/check.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/clocks.hpp"
#include "tessera/check/report.hpp"
#include "tessera/core/here.hpp"

namespace tessera::check {

/// One kind of mistake between two positions, with its first occurrence.
struct Mistake {
  Kind kind = Kind::race;
  Severity severity = Severity::error;
  Memory memory = Memory::none;
  Here here, other_here;  ///< line 0: none
  bool writes = true, other_writes = true;
  bool is_atomic = false, other_is_atomic = false;
  bool is_volatile = false, other_is_volatile = false;
  bool of_block = false;  ///< of races: one is an atomic whose scope excludes the other
  Here near_fence;        ///< of races: a fence that reaches no other block; line 0: none
  bool same_value = false;
  Order order = Order::none;  ///< of races: the partial order that exists
  Here atomic_here;           ///< of races: an atomic update on both sides; line 0: none
  bool polls = false;         ///< of races: the read polls
  bool by_copy = false;     ///< of races: an asynchronous copy writes; of cluster_exit: a bulk copy
  bool is_certain = false;  ///< of gate_bytes: a phase expects less than comes, in any order
  bool one_instruction = false;  ///< of races: two lanes store to one address at once
  bool repeats = false;          ///< of early_return: threads that ended have passed that barrier
  bool passes_by = false;     ///< of diverged_barrier: threads went around it to the kernel's end
  bool at_start = false;      ///< before the start of a block or copy, or before its gate is open
  bool is_raw = false;        ///< tensor and element are a region's number and an offset
  bool is_exact = false;      ///< of faults: it happened there, not only last seen there
  bool at_gates = false;      ///< of faults: other threads wait at gates
  std::uint32_t barrier = 0;  ///< of faults: barriers of the block so far, plus 1
  int object = -1;            ///< the accessed object, numbered within its block
  int thread = -1, other_thread = -1;
  std::int64_t block = -1, other_block = -1;  ///< linear; -1: none; the other: the same
  std::string tensor, superstep, detail, advice;
  std::vector<index_t> element;
  std::int64_t byte = -1;  ///< of shared memory outside a tile
  int bytes = 0;           ///< of uninitialized reads: so many of them, from the element's
  /// "bytes 8 to 15": of the element; empty: all of it. Of gate_arrivals: the problem.
  std::string part;
  /// The number of the product that still reads the stage, or of the first one without a wait.
  std::int64_t product = -1;
  int rank = -1;  ///< of shared memory that several blocks access: of the block that has it
  std::int64_t count = 1;
  std::uint32_t number = 0;     ///< of its first occurrence, among the blocks of its cluster
  bool is_consequence = false;  ///< of another mistake of its cluster
};

/// The same source position: quicker than is_same_place(), and enough within one file.
inline bool is_identical(const Here& a, const Here& b) {
  return a.file == b.file && a.line == b.line && a.column == b.column;
}

inline bool is_same_place(const Here& a, const Here& b) {
  return a.line == b.line && a.column == b.column &&
         (a.file == b.file || std::string_view(a.file) == b.file);
}

/// The same kind and positions; of races, the same lines. The caller compares the tensors.
inline bool is_same_mistake(const Mistake& a, const Mistake& b) {
  if (a.kind != b.kind || a.memory != b.memory || (a.other_block < 0) != (b.other_block < 0))
    return false;
  if (a.kind != Kind::race)
    return is_same_place(a.here, b.here) && is_same_place(a.other_here, b.other_here);
  const auto same_line = [](const Here& x, const Here& y) {
    return x.line == y.line && (x.file == y.file || std::string_view(x.file) == y.file);
  };
  return same_line(a.here, b.here) && same_line(a.other_here, b.other_here);
}

/// Adds their counts; keeps the first occurrence of the more severe one.
inline void merge_mistake(Mistake& known, Mistake mistake) {
  const std::int64_t count = known.count + mistake.count;
  const bool is_consequence = known.is_consequence && mistake.is_consequence;
  if (mistake.severity > known.severity) known = std::move(mistake);
  known.count = count;
  known.is_consequence = is_consequence;
}

/// The counts of one access of the source: one position, kind, memory and width.
struct AccessTotals {
  Here here;
  AccessSample sample;  ///< without location
};

/// An output element after one block, to find collisions with other blocks.
struct Touched {
  int region;
  std::uint64_t offset, bytes;
  std::uint64_t value;
  Here write, read;
  int writer, reader;
  bool plain_write, atomic_write, plain_read;
  bool of_block, is_volatile;  ///< of the atomic writes
};

/// Two operations for each multiply-add; only multiply-adds are counted.
inline void add_flops(Counters& counters) { counters.flops = 2 * counters.fma_threads; }

struct PlaceCounters {
  Here here;
  Counters counters;
};

/// An element of global memory that the block updated atomically.
struct AtomicElement {
  int region;
  std::uint64_t offset;
  Here here;
};

/// How many reads of possibly uninitialized data are kept, of a block and of all.
inline constexpr std::size_t kMostUnwritten = std::size_t{1} << 20;
/// Reads of an output element that the block had not written.
struct UnwrittenOutput {
  int region, thread;
  std::uint64_t offset;
  int bytes;
  std::int64_t count;
  std::uint32_t mistake;             ///< what they are if no other block has written it: an index
  bool is_update;                    ///< other blocks may also update it
  std::shared_ptr<const Past> poll;  ///< of an atomic or volatile read; else null
};

/// The part of a matrix that a bulk copy reads.
struct BoxRead {
  int region;
  std::uint64_t offset;  ///< of its first element, in bytes
  std::int64_t stride_bytes;
  int element_bytes;
  std::int64_t cols, rows;
  Here here;
  Past past;
};

/// A gate: its byte of shared memory, and lines of the source that name it.
struct GateLines {
  std::int64_t byte = 0;
  Here waited, arrived;
};
/// A line of a bulk copy or store and a tile that it names.
struct TileLine {
  std::uint64_t byte;
  Here here;
  std::string tile;
};

struct BlockResult {
  std::int64_t block = 0;
  std::vector<Mistake> mistakes;
  std::vector<PlaceCounters> places;
  std::vector<SuperstepCounters> supersteps;
  std::vector<AccessTotals> accesses;
  std::vector<Touched> touched;
  std::vector<AtomicElement> atomics;  ///< if there are few; none if there are many
  Here near_fence;                     ///< one that reaches no other block; line 0: none
  bool is_ordered = false;             ///< the block has clocks
  std::vector<OrderedTouch> ordered;
  std::vector<BoxRead> box_reads;  ///< of matrices that are no outputs
  std::vector<GatePhase> gate_phases;
  std::vector<GateLines> gates;
  std::vector<TileLine> tiles;
  std::vector<UnwrittenOutput> unwritten;  ///< another block may have written it in time
  std::vector<Mistake> unwritten_mistakes;
};

}  // namespace tessera::check
