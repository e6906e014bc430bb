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

/// Two kinds of cores were measured, which the size of L2 tells apart. With 1 MiB (EPYC, family 25)
/// L3 gives B nearly as fast as L2. With 2 MiB (Xeon with AMX, family 6) two multiply-adds of 512
/// bits in a cycle want B twice as fast, and L3 is far, what another core has written even more:
/// there B's part lies in L2, each thread packs its own, and what strides long or crosses lines is
/// packed. f32 on that Xeon, 2026-11-22, as a multiple of oneDNN 2.6.3's speed, as on the EPYC and
/// so: one thread 768^3 0.50, 0.99; 1000^3 0.85, 1.10; 2048^3 0.74, 0.96; (128,4096,4096) 0.39,
/// 1.17; two threads 768^3 0.51, 0.90; 2048^3 0.76, 0.99.
bool l3_is_far();

/// Bytes that lie in L2, or in a near L3, where one core uses them again and again.
index_t near_bytes();

/// Bytes of a B at `data`, with K rows `step` bytes apart, that M rows of A better read where it
/// lies: packing it would cost more than reading it out of L3 at times. Fewer where threads share a
/// far L3.
index_t most_in_place(index_t M, index_t K, index_t step, const void* data, int threads);

/// Are so few rows of B, K of them `step` bytes apart, better packed for M rows of A, because they
/// lie in the same sets of L1? A deeper micro-tile hides that its B comes out of L2. f32, one
/// thread of an EPYC (family 26), 2026-11-25, times as fast packed: (512,1024,16) 1.81,
/// (512,1024,32) 1.34, (512,1024,64) 1.10, (1024,1024,80) 1.00; (16,1024,32) 1.00,
/// (24,1024,32) 1.08, (64,1024,32) 1.22; (256,2048,8) 1.51, (2048,4096,8) 0.98; rows half a page
/// apart (32,512,32) 0.93, (256,512,32) 0.97.
bool b_crowds_l1(index_t M, index_t K, index_t step, int mr);

/// Bytes of an A with contiguous rows that is better read where it lies.
index_t most_of_a_in_place();

/// Do rows `step` bytes apart push each other out of L2 where L3 is far, so that what is read twice
/// is better packed?
bool rows_meet(index_t step);

/// How B is read once by a product with few rows: where it lies, all columns of a job at once;
/// panel by panel, which the first rows of A pack by the way; packed block by block; where its
/// columns are lines in memory, along these; or, from the caches, in strips of as many columns as
/// there are registers for their sums.
enum class Stream : char { none, sweep, panels, copied, lines, strips };

/// Block sizes of one product, in elements; along K in words.
struct Blocking {
  index_t kc;             ///< depth of a slab: a panel of A (MR,kc) is about as large as L1
  index_t nc;             ///< columns of a job: its part of B (kc,nc) stays in L3
  index_t mc;             ///< rows of a job, at most
  int nr;                 ///< columns of a panel of B, whole vectors
  bool shares_b = true;   ///< what one thread has packed of B others use too
  Stream stream;          ///< few rows: A stays in L1 and B passes by
  index_t stream_panels;  ///< panels of B in a block that is fetched while another is multiplied
};
/// What the cut depends on. K in words.
struct BlockingInput {
  index_t M, N, K;
  int mr, lanes, vectors, word_bytes;
  int group;  ///< elements in a word
  int threads;
  index_t b_bytes;    ///< all of B
  index_t b_step;     ///< from one row of B to the next
  bool b_in_rows;     ///< the columns of B lie side by side
  bool b_in_lines;    ///< the elements of a column do
  bool b_as_it_lies;  ///< a microkernel can read its elements
  int line_rows;      ///< rows that lines are for
  bool packs_only_b;  ///< A of many rows lies well, B does not
  bool a_by_pages;    ///< the elements of a row of A lie pages apart
};
Blocking block(const BlockingInput& in);
/// For many rows: slabs of kc and panels of nr columns, jobs of multiples of `unit`. B may be
/// packed already, with a unit of nr.
Blocking block_packed(const BlockingInput& in, index_t kc, int nr, int unit);

/// kc and nr of a product with many rows.
index_t slab_depth(index_t K, int mr, int word_bytes, bool is_narrow = false);
int panel_columns(index_t N, int lanes, int vectors);

}  // namespace tessera::cpu
