// How a product is cut for the caches of this machine: which part of A stays in L2, which part of B
// in L3 or, where that is far, in L2. Everything follows from the sizes of the caches and of a
// micro-tile, and from tuning(). Measurements: bench/results/cpu/tuning.md.
#pragma once

#include <algorithm>

#include "tessera/core/config.hpp"
#include "tuning.hpp"

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
/// The sizes that the system reports; the defaults above where it reports none.
const Caches& caches();
/// For tests, while nothing else runs: overrides the reported sizes, and the tuning by that of the
/// processor whose caches are most like them. Returns the previous sizes.
Caches assume_caches(const Caches& caches);

/// The bytes that one core can reuse from L2 or a near L3.
index_t near_bytes();

/// Bytes of a B at `data`, with K rows `step` bytes apart, that is better read in place by M rows
/// of A: packing it would cost more than occasional reads from L3. Fewer where threads share a far
/// L3.
index_t most_in_place(index_t M, index_t K, index_t step, const void* data, int threads);

/// Are K rows of B, `step` bytes apart, better packed for M rows of A because they conflict in L1?
/// With a larger K the micro-tile hides the latency of L2.
bool b_crowds_l1(index_t M, index_t K, index_t step, int mr);

/// The size in bytes up to which an A with contiguous rows is better read in place.
index_t most_of_a_in_place();

/// Where L3 is far: do rows `step` bytes apart evict each other from L2, so that operands that are
/// read twice are better packed?
bool rows_meet(index_t step);

/// How B is read once by a product with few rows: in place, all columns of a task at once;
/// panel by panel, with packing fused into the first rows of A; packed block by block; in dot form,
/// where its columns are contiguous; or, from the caches, in strips of as many columns as
/// there are registers for their sums.
enum class Stream : char { none, axpy, panels, copied, dots, strips };

/// Block sizes of one product, in elements; along K in K-groups.
struct Blocking {
  index_t kc;             ///< depth of a KC block: a panel of A (MR,kc) is about as large as L1
  index_t nc;             ///< columns of a task: its part of B (kc,nc) stays in L3
  index_t mc;             ///< rows of a task, at most
  int nr;                 ///< columns of a panel of B, whole vectors
  bool shares_b = true;   ///< threads share packed parts of B
  Stream stream;          ///< few rows: A stays in L1, B is streamed
  index_t stream_panels;  ///< panels of B in a block that is prefetched while another is multiplied

  bool operator==(const Blocking&) const = default;
};
/// The properties of a product that determine its blocking. K in K-groups.
struct BlockingInput {
  index_t M, N, K;
  int mr, lanes, vectors, k_group_bytes;
  int group;  ///< elements in a K-group
  int threads;
  index_t b_bytes;         ///< all of B
  index_t b_step;          ///< bytes from one row of B to the next
  bool b_is_row_major;     ///< rows of B are contiguous
  bool b_is_column_major;  ///< columns of B are contiguous
  bool b_is_unconverted;   ///< microkernels can read its elements
  int axpy_rows;           ///< rows that the axpy form supports
  int dot_rows;            ///< rows that the dot form and strips support
  bool packs_only_b;       ///< an A of many rows can be read in place, B cannot
  bool a_by_pages;         ///< the elements of a row of A are pages apart
};
Blocking block(const BlockingInput& in);
/// For many rows: KC blocks of kc and panels of nr columns, tasks of multiples of `unit`. B may be
/// packed already, with a unit of nr.
Blocking block_packed(const BlockingInput& in, index_t kc, int nr, int unit);

/// kc and nr of a product with many rows.
index_t kc_block_depth(index_t K, int mr, int k_group_bytes, bool is_narrow = false);
int panel_columns(index_t N, int lanes, int vectors);

}  // namespace tessera::cpu
