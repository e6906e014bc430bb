// How a product is cut for the caches of this machine: which part of A stays in L2, which part of B
// in L3 or, where that is far, in L2. Everything follows from the sizes of the caches and of a
// micro-tile.
#pragma once

#include <algorithm>

#include "tessera/core/config.hpp"

namespace tessera::cpu {

constexpr index_t ceil_div(index_t a, index_t b) { return (a + b - 1) / b; }
constexpr index_t round_up(index_t a, index_t b) { return ceil_div(a, b) * b; }
/// `extent` in equal parts of at most `most`, each a multiple of `unit`.
constexpr index_t even_part(index_t extent, index_t most, index_t unit) {
  const index_t parts = std::max<index_t>(1, ceil_div(extent, std::max(most, unit)));
  return round_up(ceil_div(extent, parts), unit);
}

/// Bytes of data cache as one core sees it.
struct Caches {
  index_t l1 = 32 << 10, l2 = 512 << 10;
  index_t l3 = 8 << 20;  ///< shared by several cores; some systems say the sum of a whole package
  index_t l2_ways = 16;
};
/// Cores with so much L1 or more were measured apart from those with less.
constexpr index_t kLargeL1 = 48 << 10;
/// What the system says; the defaults above where it says nothing.
const Caches& caches();
/// For tests, while nothing else runs: as if the system had said this. Returns what it was.
Caches assume_caches(const Caches& caches);

/// The size of L2 tells two kinds of cores apart. With 1 MiB (EPYC) L3 gives B nearly as fast as
/// L2. With 2 MiB (Xeon with AMX) two multiply-adds of 512 bits in a cycle want B twice as fast,
/// and L3 is far, most of all for what another core has written: there B's part stays in L2, each
/// thread packs its own, and what has long strides or crosses cache lines is packed. Measured:
/// bench/results/cpu/tuning.md.
bool l3_is_far();

/// Bytes that are in L2, or in a near L3, where one core uses them again and again.
index_t near_bytes();

/// Bytes of a B at `data`, with K rows `step` bytes apart, that M rows of A better read where it
/// is: packing it would cost more than reading it out of L3 at times. Fewer where threads share a
/// far L3.
index_t most_in_place(index_t M, index_t K, index_t step, const void* data, int threads);

/// Are so few rows of B, K of them `step` bytes apart, better packed for M rows of A, because they
/// are in the same sets of L1? A deeper micro-tile hides that its B comes out of L2. Measured:
/// bench/results/cpu/tuning.md.
bool b_crowds_l1(index_t M, index_t K, index_t step, int mr);

/// Bytes of an A with contiguous rows that is better read in place.
index_t most_of_a_in_place();

/// Do rows `step` bytes apart push each other out of L2 where L3 is far, so that what is read twice
/// is better packed?
bool rows_meet(index_t step);

/// How B is read once by a product with few rows: in place, all columns of a task at once;
/// panel by panel, which the first rows of A pack in passing; packed block by block; where its
/// columns are lines in memory, along these; or, from the caches, in strips of as many columns as
/// there are registers for their sums.
enum class Stream : char { none, axpy, panels, copied, lines, strips };

/// Block sizes of one product, in elements; along K in K-groups.
struct Blocking {
  index_t kc;             ///< depth of a KC block: a panel of A (MR,kc) is about as large as L1
  index_t nc;             ///< columns of a task: its part of B (kc,nc) stays in L3
  index_t mc;             ///< rows of a task, at most
  int nr;                 ///< columns of a panel of B, whole vectors
  bool shares_b = true;   ///< what one thread has packed of B others use too
  Stream stream;          ///< few rows: A stays in L1 and B passes by
  index_t stream_panels;  ///< panels of B in a block that is prefetched while another is multiplied
};
/// What the cut depends on. K in K-groups.
struct BlockingInput {
  index_t M, N, K;
  int mr, lanes, vectors, k_group_bytes;
  int group;  ///< elements in a K-group
  int threads;
  index_t b_bytes;        ///< all of B
  index_t b_step;         ///< from one row of B to the next
  bool b_in_rows;         ///< the columns of B are contiguous
  bool b_in_lines;        ///< the elements of a column do
  bool b_is_unconverted;  ///< a microkernel can read its elements
  int dot_rows;           ///< rows that lines are for
  bool packs_only_b;      ///< A of many rows can be read in place, B cannot
  bool a_by_pages;        ///< the elements of a row of A are pages apart
};
Blocking block(const BlockingInput& in);
/// For many rows: KC blocks of kc and panels of nr columns, tasks of multiples of `unit`. B may be
/// packed already, with a unit of nr.
Blocking block_packed(const BlockingInput& in, index_t kc, int nr, int unit);

/// kc and nr of a product with many rows.
index_t kc_block_depth(index_t K, int mr, int k_group_bytes, bool is_narrow = false);
int panel_columns(index_t N, int lanes, int vectors);

}  // namespace tessera::cpu
