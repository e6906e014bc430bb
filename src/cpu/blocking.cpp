// The numbers behind blocking.hpp: sizes of the caches from the system, extents of slabs and
// superblocks from these and from the micro-tile. Depends on the shape and the machine alone, never
// on the number of threads, and never changes a bit of the result.
#include "blocking.hpp"

#include <unistd.h>

#include <algorithm>

namespace tessera::cpu {

namespace {

constexpr index_t ceil_div(index_t a, index_t b) { return (a + b - 1) / b; }
constexpr index_t round_up(index_t a, index_t b) { return ceil_div(a, b) * b; }

/// `extent` in equal parts of at most `most`, each a multiple of `unit`.
index_t even_part(index_t extent, index_t most, index_t unit) {
  const index_t parts = std::max<index_t>(1, ceil_div(extent, std::max(most, unit)));
  return round_up(ceil_div(extent, parts), unit);
}

/// Products of few rows: M up to `panels_of_a` panels. Memory gives 31 GB/s when 8 to 16 rows of B
/// are read side by side, 13 GB/s with 32 and more; sums that are stored and taken up again cost
/// more the shorter kc is. (M,4096,4096), f32, one thread of an EPYC (family 25), 2026-11-21,
/// GFLOP/s: M = 1: kc 8 10.8, 16 5.5, 32 5.9; M = 8: 40, 57, 50; M = 16: kc 64 in place 68, kc 128
/// copied 61; M = 64: kc 64 copied 82, 128 copied 89, 256 copied 86, not streamed 83.
struct FewRows {
  index_t panels_of_a;
  Stream stream;
  index_t kc, panels;
};
constexpr FewRows kFewRows[] = {
    {1, Stream::in_place, 16, 16}, {2, Stream::in_place, 64, 4}, {12, Stream::copied, 128, 12}};

const FewRows* few_rows(index_t M, int mr, bool b_in_rows) {
  static constexpr FewRows one{1, Stream::in_place, 8, 16}, transposed{12, Stream::copied, 512, 2};
  if (!b_in_rows) return M <= transposed.panels_of_a * mr ? &transposed : nullptr;
  if (M == 1) return &one;
  for (const FewRows& few : kFewRows) {
    if (M <= few.panels_of_a * mr) return &few;
  }
  return nullptr;
}

}  // namespace

const Caches& caches() {
  static const Caches found = [] {
    Caches out;
    const auto ask = [](int name, index_t& value) {
      if (const long bytes = sysconf(name); bytes > 0) value = bytes;
    };
    ask(_SC_LEVEL1_DCACHE_SIZE, out.l1);
    ask(_SC_LEVEL2_CACHE_SIZE, out.l2);
    ask(_SC_LEVEL3_CACHE_SIZE, out.l3);
    return out;
  }();
  return found;
}

index_t slab_depth(index_t K, int mr, int word_bytes) {
  // A panel of A takes half of L1; the other half is for what streams through: B and C.
  return even_part(K, std::clamp<index_t>(caches().l1 / 2 / (mr * word_bytes), 128, 1024), 8);
}

int panel_columns(index_t N, int lanes, int vectors) {
  return static_cast<int>(even_part(N, index_t{lanes} * vectors, lanes));
}

Blocking block_packed(const BlockingInput& in, index_t kc, int nr) {
  Blocking out{};
  out.kc = kc, out.nr = nr;
  // A job's part of B takes 3/8 of L2: A and C pass through the rest. At 2048^3 (f32, one thread,
  // L2 of 1 MiB) 5/8 took 2 % longer.
  const index_t nc_most = std::max<index_t>(nr, caches().l2 * 3 / 8 / (kc * in.word_bytes));
  out.nc = even_part(in.N, nc_most / nr * nr, nr);
  out.mc = round_up(in.M, in.mr);
  if (in.threads == 1) return out;
  // Eight jobs for each thread, so that one that is held up does not hold up the others; but enough
  // rows in each that reading its part of B is well repaid.
  const index_t across = ceil_div(in.N, out.nc);
  const index_t down = std::max<index_t>(1, ceil_div(index_t{8} * in.threads, across));
  out.mc = even_part(in.M, std::max<index_t>(ceil_div(in.M, down), 8 * in.mr), in.mr);
  // Too few rows for that: narrower jobs.
  if (ceil_div(in.M, out.mc) * across < 4 * in.threads) {
    const index_t columns = ceil_div(index_t{4} * in.threads, ceil_div(in.M, out.mc));
    out.nc = even_part(in.N, std::max<index_t>(ceil_div(in.N, columns), nr), nr);
  }
  return out;
}

Blocking block(const BlockingInput& in) {
  const int nr = panel_columns(in.N, in.lanes, in.vectors);
  const index_t nr_most = index_t{in.lanes} * in.vectors;
  const FewRows* few = few_rows(in.M, in.mr, in.b_in_rows);
  if (few == nullptr || in.N < 8 * nr_most || in.K < 2 * few->kc)
    return block_packed(in, slab_depth(in.K, in.mr, in.word_bytes), nr);
  Blocking out{};
  out.nr = nr;
  out.stream = few->stream;
  out.stream_panels = few->panels;
  out.kc = few->kc;
  out.mc = round_up(in.M, in.mr);
  // Rows of B are read along a job's columns: as many as leave four jobs for each thread.
  const index_t most = std::max<index_t>(ceil_div(in.N, 4 * in.threads), 4 * nr_most);
  out.nc = in.threads == 1 ? round_up(in.N, nr) : even_part(in.N, most, nr);
  return out;
}

}  // namespace tessera::cpu
