// Implements blocking.hpp: cache sizes from the system, and from these and the micro-tile the
// extents of KC blocks and blocks of C. Never changes a bit of the result. Measurements:
// bench/results/cpu/tuning.md.
#include "blocking.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

namespace tessera::cpu {

namespace {

/// The depth of a KC block is a multiple of this many K-groups, the depth of one AMX instruction:
/// it sums its K-groups in two chains (TDPBF16PS), so cutting inside it would change roundings.
constexpr index_t kKcBlockUnit = 16;

/// Products of few rows: M up to `panels_of_a` panels. A shorter kc stores and reloads the sums
/// more often; a longer one keeps more rows of B in L2, and strides of a power of two put these
/// into few sets.
struct FewRows {
  index_t panels_of_a;
  Stream stream;
  index_t kc, panels;
};
constexpr FewRows kAxpy{4, Stream::axpy, 1024, 0}, kPanels{20, Stream::panels, 512, 1},
    kPanelsOfPages{2, Stream::panels, 128, 1}, kCopied{12, Stream::copied, 128, 12},
    kTransposed{12, Stream::copied, 512, 2}, kTransposedDots{1, Stream::copied, 2048, 1},
    kDots{1, Stream::dots, 0, 0}, kStrips{1, Stream::strips, 0, 0};

/// Limits of column strips: rows of A; the size of a B in a near L3, in multiples of L2; and rows
/// of B as a multiple of those that fit L2, since rows that are pages apart use few of its sets.
struct StripLimit {
  index_t rows, sizes_of_l2, of_sets;
};
constexpr index_t kAny = 1 << 20;
constexpr StripLimit kStripLimits[] = {{6, 16, kAny}, {16, 9, 4}, {32, 9, 3}, {200, 6, 1}};
/// Bytes along a row of B that the axpy form reads at once where sums of many rows would fill L2.
constexpr index_t kAxpyBytes = 4096;

/// The size of B that counts as near for this many rows of A. Less than L3, which others use too,
/// where the axpy form or panels are as fast.
index_t near_bytes_for(const BlockingInput& in) {
  const Tuning& values = tuning();
  const index_t most = in.M == 1                      ? values.near_one_row
                       : in.M <= 6 && in.threads == 1 ? values.near_few_rows
                       : in.M > 12                    ? values.near_many_rows
                                                      : 0;
  return most == 0 ? near_bytes() : std::min(near_bytes(), most * caches().l2);
}

/// For one or two rows of A and a B whose columns are contiguous along K.
bool is_narrow(const BlockingInput& in) { return in.M <= 2 && !in.b_is_row_major; }

/// The distance in bytes of addresses that map to the same set of L2.
index_t l2_way() { return caches().l2 / caches().l2_ways; }

/// Rows of each thread's part of a small product; 0: it is cut in another way. Parts of the columns
/// would lie side by side in C, and each core would prefetch cache lines that another one writes.
index_t rows_of_small_part(const BlockingInput& in) {
  const index_t near = caches().l2 / 8, rows = round_up(ceil_div(in.M, in.threads), in.mr);
  const index_t largest = std::max({in.M * in.K, in.K * in.N, in.M * in.N}) * in.k_group_bytes;
  const bool is_even = (rows * in.threads - in.M) * 8 <= in.M && in.M >= 2 * in.mr * in.threads;
  return in.threads > 1 && tuning().far_l3 == 0 && largest <= near && is_even ? rows : 0;
}

bool is_for_strips(const BlockingInput& in) {
  const index_t l2 = caches().l2, way = l2_way();
  if (in.dot_rows == 0 || rows_of_small_part(in) > 0) return false;
  if (in.M <= 2) return in.b_bytes <= near_bytes_for(in);
  // There are columns for every thread, and a strip and A stay in L2 for the second group of rows.
  // An A whose columns are pages apart does not stay.
  if (tuning().far_l3 || in.N < index_t{2} * in.lanes * in.threads) return false;
  // Not where threads would get unequal parts.
  const index_t vectors = ceil_div(in.N, in.lanes), shared = round_up(vectors, in.threads);
  if (in.M > 2 * in.mr && (shared - vectors) * 16 > vectors) return false;
  const index_t kept = (in.M + index_t{4} * in.lanes) * in.K * in.k_group_bytes;
  if (in.M > in.mr && kept > l2 * 7 / 8) return false;
  if (in.a_by_pages && (in.M > in.mr || in.M * in.k_group_bytes >= 64)) return false;
  const index_t room = way / std::gcd(in.b_step, way) * caches().l2_ways;
  return std::any_of(std::begin(kStripLimits), std::end(kStripLimits), [&](const StripLimit& most) {
    return in.M <= most.rows && in.b_bytes <= std::min(near_bytes_for(in), most.sizes_of_l2 * l2) &&
           in.K <= most.of_sets * room;
  });
}

/// Two tasks for each thread, or one, if each task then has two vectors of columns.
index_t strip_tasks(const BlockingInput& in) {
  const index_t pairs = std::max<index_t>(1, in.N / (2 * in.lanes)), threads = in.threads;
  if (threads == 1 || pairs < threads) return std::min(threads, pairs);
  return std::min(2 * threads, pairs / threads * threads);
}

/// Rows of A for which any B of 8 or 16 bits is read in axpy form.
constexpr index_t kAlwaysAxpy = 4;

/// Rows of 8- or 16-bit elements are interleaved into K-groups as they are read: for a few rows of
/// A each time they are used, else once.
const FewRows* few_rows_of_groups(const BlockingInput& in) {
  const bool is_far = in.b_bytes >= near_bytes();
  if (in.M <= kAlwaysAxpy || (is_far && in.M <= (in.group == 2 ? 12 : 8))) return &kAxpy;
  const FewRows& few = in.group == 2 ? kPanels : kCopied;
  const index_t least = in.group == 2 ? caches().l2 * 5 / 8 : near_bytes();
  return in.b_bytes >= least && in.M <= few.panels_of_a * std::min(in.mr, 8) ? &few : nullptr;
}

const FewRows* few_rows(const BlockingInput& in) {
  const auto if_few = [&](const FewRows& few) {
    return in.M <= few.panels_of_a * std::min(in.mr, 8) ? &few : nullptr;  // limits for MR = 8
  };
  if (in.b_is_column_major && (!in.b_is_row_major || in.group > 1) && in.M <= in.dot_rows)
    return &kDots;
  if (is_narrow(in)) return &kTransposedDots;
  if (!in.b_is_row_major) return if_few(kTransposed);
  if (!in.b_is_unconverted) return in.M <= in.axpy_rows ? &kAxpy : if_few(kCopied);
  // A B in L2 or a near L3 does not take the few_rows route.
  const index_t bytes = in.b_bytes;
  if (b_crowds_l1(in.M, in.K, in.b_step, in.mr)) return nullptr;
  if (in.group > 1) return few_rows_of_groups(in);
  if (is_for_strips(in)) return &kStrips;
  if (bytes <= caches().l2 * 5 / 8) return nullptr;
  const bool pages = in.b_step % 4096 == 0;
  if (!tuning().far_l3 && bytes <= near_bytes_for(in) && in.M <= (pages ? tuning().axpy_rows : 16))
    return nullptr;
  if (in.M <= tuning().axpy_rows) return &kAxpy;
  if (tuning().far_l3) return nullptr;
  // The prefetched part of the next panel stays in L2 only up to this depth.
  return pages && in.M <= kPanelsOfPages.panels_of_a * 8 ? &kPanelsOfPages : if_few(kPanels);
}

}  // namespace

index_t near_bytes() { return std::min(caches().l2 * tuning().near_eighths / 8, caches().l3); }

namespace {

Caches& known_caches() {
  static Caches found = [] {
    Caches out;
    const auto ask = [](int name, index_t& value) {
      if (const long bytes = sysconf(name); bytes > 0) value = bytes;
    };
    ask(_SC_LEVEL1_DCACHE_SIZE, out.l1);
    ask(_SC_LEVEL2_CACHE_SIZE, out.l2);
    ask(_SC_LEVEL3_CACHE_SIZE, out.l3);
    ask(_SC_LEVEL2_CACHE_ASSOC, out.l2_ways);
    return out;
  }();
  return found;
}

}  // namespace

const Caches& caches() { return known_caches(); }
Caches assume_caches(const Caches& caches) {
  assume_tuning(tuning_like(caches));
  return std::exchange(known_caches(), caches);
}

index_t most_of_a_in_place() {
  return tuning().far_l3 != 0 ? caches().l2 / 2 : std::numeric_limits<index_t>::max();
}

bool rows_meet(index_t step) {
  // Rows at a distance of the size of a way of L2 map to the same set.
  return tuning().far_l3 && step % l2_way() == 0;
}

bool b_crowds_l1(index_t M, index_t K, index_t step, int mr) {
  constexpr index_t way = 4096, deepest = 64;
  return M > 2 * mr && step != 0 && step % way == 0 && K > caches().l1 / way / 2 && K <= deepest;
}

index_t most_in_place(index_t M, index_t K, index_t step, const void* data, int threads) {
  // Rows that are pages apart would conflict in L2.
  if (step % 4096 == 0) return 0;
  const bool on_lines = step % 64 == 0 && reinterpret_cast<std::uintptr_t>(data) % 64 == 0;
  // Where L3 is far, in place only if rows are aligned to cache lines.
  if (tuning().far_l3 != 0 && !on_lines) return 0;
  const index_t most =
      caches().l2 * (threads == 1 ? tuning().in_place_alone : tuning().in_place_shared) / 8;
  if (tuning().far_l3 != 0) return most;
  // A B with more rows in one set of L2 than half of its ways, which does not fit L2 as a whole, is
  // packed where A has many rows.
  const index_t way = l2_way();
  if (M > 640 && K * step > caches().l2 && K > way / std::gcd(step, way) * caches().l2_ways / 2)
    return 0;
  return most;
}

/// K-groups of a KC block of a tile unit, which reads B so that A stays in L1. Deeper ones store
/// and reload the sums more rarely and read A from L2.
index_t kc_of_tiles(index_t K, index_t row_bytes) {
  const index_t in_l1 = caches().l1 * 2 / 3 / row_bytes;
  return std::max<index_t>(128, K > 2 * in_l1 ? 4 * in_l1 : in_l1);
}

index_t kc_block_depth(index_t K, int mr, int k_group_bytes, bool is_narrow) {
  if (mr > 16) return even_part(K, kc_of_tiles(K, index_t{mr} * k_group_bytes), kKcBlockUnit);
  // A panel of A is as large as L1, or a little more, so that a K just above a multiple is not cut
  // again. Like B it is read from L2 whatever its size, because B evicts it from L1; what matters
  // is how rarely sums are stored and reloaded. Where L3 is far, a shallower KC block allows a
  // wider part of B, which a narrow B does not need. A narrow B that is deep leaves no room for
  // rows of A: two KC blocks of four vectors, one of them being prefetched, take half of L2. A K
  // that needs several KC blocks anyway is cut so that two panels of B fit L2, one of them being
  // prefetched.
  const bool is_far = tuning().far_l3 != 0;
  const index_t bytes =
      is_far && is_narrow ? caches().l1 * 5 / 4 : caches().l1 * tuning().panel_twelfths / 12;
  const index_t narrow_most = caches().l2 / 2 / (2 * 4 * 64);
  const index_t most = std::clamp<index_t>(
      bytes / (mr * k_group_bytes), 128,
      is_narrow && !is_far ? std::clamp<index_t>(narrow_most, 256, 2048) : 2048);
  const bool is_cut = K > most && !is_far && !is_narrow;
  return even_part(K, is_cut ? std::max<index_t>(128, most * 3 / 5) : most, kKcBlockUnit);
}

int panel_columns(index_t N, int lanes, int vectors) {
  return static_cast<int>(even_part(N, index_t{lanes} * vectors, lanes));
}

namespace {

/// Panels of B in each task, where every thread has up to four tasks: minimises the largest share
/// of a thread.
index_t task_panels(index_t panels, int threads) {
  const index_t of_thread = ceil_div(panels, threads);
  index_t best = of_thread;
  for (index_t tasks = 2; tasks <= 4; ++tasks) {
    const index_t task = ceil_div(of_thread, tasks);
    if (task * tasks <= round_up(of_thread, best)) best = task;
  }
  return best;
}

/// Columns of tasks, of `most` that few rows allow. Threads with a tile unit are done with a task
/// soon: each gets as many, or one if its part of B is long, which it keeps and A in its L2.
index_t task_columns(const BlockingInput& in, index_t kc, index_t most) {
  const index_t part = ceil_div(in.N, in.threads) * kc * in.k_group_bytes;
  if (in.mr <= 16 || most <= in.threads || part > caches().l2 / 4) return most;
  return part >= caches().l2 / 16 ? in.threads : most / in.threads * in.threads;
}

}  // namespace

/// Where there are enough rows, tasks have multiples of `unit` columns: of a panel or, for threads,
/// of a vector, so that their parts are as equal as possible.
Blocking block_packed(const BlockingInput& in, index_t kc, int nr, int unit) {
  Blocking out{};
  out.kc = kc, out.nr = nr;
  // The part of B stays in L3, which others use too: it is read in order, which hardware
  // prefetchers hide, and the wider it is, the more rarely A is read. Counted in multiples of L2,
  // because some systems report the sum of several L3.
  const index_t in_l2 = caches().l2 * tuning().b_part_eighths / 8;
  const index_t part = tuning().far_l3 != 0
                           ? in_l2
                           : std::max(caches().l2 * 3 / 8, std::min(in_l2, caches().l3 / 4));
  const index_t nc_most = std::max<index_t>(nr, part / (kc * in.k_group_bytes));
  out.nc = even_part(in.N, nc_most / nr * nr, unit);
  out.mc = round_up(in.M, in.mr);
  if (in.threads == 1) return out;
  if (const index_t rows = rows_of_small_part(in); rows > 0) {
    out.mc = rows;
    return out;
  }
  // Up to one part of the columns for each thread, where there are enough: panels packed by a core
  // of another L3 are slow to read.
  const index_t parts = std::min<index_t>(in.threads, in.N / (4 * nr));
  if (in.packs_only_b && !tuning().far_l3 && out.nc >= in.N && parts > 1)
    out.nc = round_up(ceil_div(in.N, parts), unit);
  // Sixteen tasks for each thread, so that a delayed thread does not delay the others; fewer where
  // each packs its part of B or computes all of K alone; but enough rows in each to amortise
  // reading that part.
  const index_t across = ceil_div(in.N, out.nc);
  out.shares_b = across == 1 || !tuning().far_l3;
  const index_t tasks = index_t{!out.shares_b ? 4 : in.N <= nr ? 8 : 16} * in.threads;
  const index_t down = std::max<index_t>(1, ceil_div(tasks, across));
  out.mc = even_part(in.M, std::max<index_t>(ceil_div(in.M, down), 4 * in.mr), in.mr);
  if (ceil_div(in.M, out.mc) * across >= 4 * in.threads) return out;
  // Too few rows for that. Where K is long and C one panel wide, each thread computes all of K for
  // a part of the rows. Else narrower tasks.
  if (in.K > kc && in.N <= nr && in.M >= 2 * in.mr) {
    out.mc = even_part(in.M, ceil_div(in.M, in.threads), in.mr);
    out.shares_b = false;
  } else if (const index_t of_rows = ceil_div(in.M, out.mc); of_rows > 1) {
    const index_t columns = task_columns(in, kc, ceil_div(index_t{4} * in.threads, of_rows));
    out.nc = even_part(in.N, std::max<index_t>(ceil_div(in.N, columns), nr), nr);
  } else {
    out.nc = task_panels(ceil_div(in.N, nr), in.threads) * nr;
  }
  return out;
}

Blocking block(const BlockingInput& in) {
  // A panel of a transposed B reads as many rows of it at once as it has columns; one vector of
  // rows is read faster than three.
  const index_t nr_most = index_t{in.lanes} * in.vectors;
  int nr = panel_columns(in.N, in.lanes, is_narrow(in) ? 1 : in.vectors);
  // A few panels, one of them narrower, cannot be divided equally among threads.
  const int two = 2 * in.lanes;
  if (in.threads > 1 && nr > two && in.N <= 5 * nr && in.N % nr != 0 && in.N % two == 0) nr = two;
  const FewRows* few = few_rows(in);
  if (few == &kDots || few == &kStrips) {  // one KC block: the sums stay in registers
    const index_t width = index_t{2} * in.lanes;
    const index_t most = std::max(ceil_div(in.N, in.threads == 1 ? 1 : 2 * in.threads), width);
    return {.kc = in.K,
            .nc = few == &kStrips ? ceil_div(in.N, strip_tasks(in)) : even_part(in.N, most, width),
            .mc = in.M,
            .nr = nr,
            .stream = few->stream,
            .stream_panels = 1};
  }
  const bool axpys = few == &kAxpy;
  const bool always = axpys && (in.group > 1 || !in.b_is_unconverted) && in.M <= kAlwaysAxpy;
  if (few == nullptr || (!always && (in.N < 8 * nr_most || in.K < (axpys ? 128 : 2 * few->kc))))
    return block_packed(in, kc_block_depth(in.K, in.mr, in.k_group_bytes, in.N <= 2 * nr_most), nr,
                        in.threads > 1 && in.vectors == 3 ? in.lanes : nr);
  Blocking out{};
  out.nr = nr;
  out.stream = few->stream;
  out.kc = axpys ? even_part(in.K, few->kc, kKcBlockUnit) : few->kc;
  // A block that is prefetched takes at most 5/8 of L2.
  const index_t most_panels = caches().l2 * 5 / 8 / (out.kc * nr * in.k_group_bytes);
  out.stream_panels = std::clamp<index_t>(few->panels, 1, std::max<index_t>(1, most_panels));
  out.mc = round_up(in.M, in.mr);
  // Rows of B are read along a task's columns, and memory is faster with long runs: two tasks for
  // each thread; one, for a single row of A, which is all memory traffic.
  const index_t all = index_t{in.M == 1 ? 1 : 2} * in.threads;
  const index_t task = in.threads == 1 ? in.N : std::max(ceil_div(in.N, all), 4 * nr_most);
  const index_t most = axpys && in.M > 4 ? std::min(task, kAxpyBytes / in.k_group_bytes) : task;
  // As many for each thread, if they stay wide enough, so that a task runs on the same core in each
  // call; else its part of B would move from L2 to L2.
  const index_t tasks = ceil_div(in.N, most), even = ceil_div(in.N, round_up(tasks, in.threads));
  const bool evens_out = tasks > in.threads && even >= 2 * nr_most;
  // Wide tasks are equal to within a vector rather than a whole panel.
  const index_t nc = evens_out ? even : most;
  const bool by_vectors = axpys || (in.threads > 1 && in.vectors == 3 && nc >= index_t{5} * nr);
  out.nc = even_part(in.N, nc, by_vectors ? in.lanes : nr);
  return out;
}

}  // namespace tessera::cpu
