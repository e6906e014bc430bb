// How a large product is divided, packed and stored: decided once, from shape, strides, types,
// addresses and caches, by plan_packed(). Nothing here runs; product.hpp carries a plan out.
// Measurements: bench/results/cpu/tuning.md.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

#include "cpu/blocking.hpp"
#include "cpu/epilogue.hpp"
#include "cpu/workspace.hpp"
#include "tessera/cpu/packed_matrix.hpp"

namespace tessera::cpu {

/// The largest block of C, in rows and columns: bounds the memory for packed panels.
constexpr index_t kBlockOfC = 4096;

/// Rows of A that stay in L2, at most half of it, so that each panel of B is read from L3 once for
/// all of them, and many columns of a transposed A are packed at once. AMX needs its panel in L1.
constexpr index_t kBlockRows = 128;
/// Rows of the first block, with fused packing of B where L3 is near: while these rows use a panel,
/// the next one is loaded. Packing alone reads at half the speed of memory, in any order.
constexpr index_t kFirstRows = 64;
/// The least K of a micro-tile that prefetches: the operands of a shallower one are in the caches,
/// and prefetches would be a large part of its loads.
constexpr index_t kPrefetchDepth = 256;
/// The least number of columns of B that one thread packs for all: memory is fastest with long
/// rows.
constexpr index_t kShareColumns = 192;

/// Who packs an operand: nobody, it is read in place; the caller, before (PackedMatrix); each
/// thread, what it needs; or one thread for all, part by part.
enum class Packing : char { none, by_caller, own, shared };

/// Where sums are kept between KC blocks: nowhere, one micro-tile after the other; in C; apart.
enum class SumsIn : char { tile, c, workspace };

/// Where the epilogue runs: nowhere, as C is the plain sums; in the registers of microkernels; on
/// sums that were stored.
enum class FinishAt : char { never, tiles, after };

/// Bytes of each part of the workspace, in whole cache lines, and the number of parts of A and B
/// that threads share.
struct PackedWorkspace {
  std::size_t a_kc_block, b_kc_block, sums, states, a_own, b_own, total;
  index_t a_shares, b_shares;

  bool operator==(const PackedWorkspace&) const = default;
};

struct PackedPlan {
  Blocking blocks;
  index_t k_groups, kc_blocks;  ///< along K
  int mr;                       ///< rows of a micro-tile
  int axpy;                     ///< the entry of Kernels::axpy
  Packing a, b;
  SumsIn sums;
  FinishAt finish;
  bool is_wide;                    ///< one wide micro-tile has all columns
  bool fuses_b;                    ///< the first rows multiply an unpacked B and pack it
  bool prefetches_b;               ///< the next packed panel, for each block of rows
  bool streams_c;                  ///< non-temporal stores
  index_t first_rows, block_rows;  ///< rows of A that use a panel of B: at first, and afterwards
  index_t most_cols;      ///< columns of a block of C: whole vectors, or panels of a packed B
  index_t share_columns;  ///< columns of B in a share, whole panels
  index_t sums_row;       ///< the distance of rows of sums that are kept apart
  /// Columns before the first vector boundary of C, which alone prevent non-temporal stores.
  index_t columns_before;
  PackedWorkspace workspace;

  bool packs_a() const { return a != Packing::none; }
  bool shares_a() const { return a == Packing::shared; }
  bool reads_panels_of_b() const { return b != Packing::none; }
  bool packs_b() const { return b == Packing::own || b == Packing::shared; }
  bool shares_b() const { return b == Packing::shared; }
  /// More rows follow: packed panels are kept.
  bool keeps_b() const { return (packs_b() && !fuses_b) || shares_b() || blocks.mc > first_rows; }
  /// All of K in one KC block, with the sums in registers.
  bool is_one_kc_block() const {
    return blocks.stream == Stream::dots || blocks.stream == Stream::strips;
  }
  /// Do tasks process all of their columns in one call?
  bool is_unpacked() const { return blocks.stream == Stream::axpy || is_one_kc_block(); }
  /// Columns of the panels of a task.
  index_t task_columns() const { return round_up(blocks.nc, blocks.nr); }

  bool operator==(const PackedPlan&) const = default;
};

/// Are the operands K-groups already, so that a microkernel may read them in place? A whose
/// rows are contiguous can be more often: see Kernels::reads_a.
template <class In, class Table>
constexpr bool kIsUnpacked = std::is_same_v<In, typename Table::KGroup>;

/// Bytes from one row of B to the next.
template <class In, class Out>
index_t step_of_b(const Gemm<In, Out>& call) {
  return std::abs(call.b_row) * static_cast<index_t>(sizeof(In));
}

/// The steps of plan_packed(). B: packed already, or null.
template <class In, class Out, class Table>
struct Planner {
  using KGroup = typename Table::KGroup;
  using Sum = typename Table::Sum;
  using Scalar = typename Gemm<In, Out>::Scalar;
  static constexpr bool unpacked = kIsUnpacked<In, Table>;

  const Gemm<In, Out>& call;
  const Table& kernels;
  const PackedMatrix<In>* B;
  bool goes_on = call.chain == Chain::goes_on;  ///< only forms that store sums load them
  PackedPlan plan{};

  /// Does one wide micro-tile cover all columns of C, so that each element of A is read once,
  /// unpacked?
  bool is_wide() const {
    return unpacked && call.N > kernels.nr() && call.N <= kernels.one_panel() && call.a_col == 1;
  }

  /// Is all of B better read in place?
  bool b_is_small() const {
    if (!unpacked || call.b_col != 1) return false;
    const index_t step = step_of_b(call);
    const index_t most = most_in_place(call.M, call.K, step, call.B, call.threads);
    return call.K * step <= std::max(most, caches().l2 / 4);
  }

  Blocking cut() const {
    const bool reads_a = kernels.reads_a(call.K, call.a_row, call.a_col);
    constexpr auto bytes = static_cast<index_t>(sizeof(In));
    const BlockingInput in{
        .M = std::min(call.M, kBlockOfC),
        .N = even_part(call.N, kBlockOfC, 1),
        .K = plan.k_groups,
        .mr = plan.mr,
        .lanes = kernels.lanes,
        .vectors = plan.is_wide ? Table::kMaxVectors : kernels.vectors,
        .k_group_bytes = sizeof(KGroup),
        .group = kernels.group,
        .threads = call.threads,
        .b_bytes = call.N * call.K * bytes,
        .b_step = step_of_b(call),
        .b_is_row_major = call.b_col == 1,
        .b_is_column_major = call.b_row == 1,
        .b_is_unconverted = !kernels.converts() && kernels.axpys > 0 && !goes_on,
        .axpy_rows = goes_on ? 0 : kernels.axpy_rows(),
        .dot_rows = goes_on ? 0 : kernels.dot_rows,
        .packs_only_b = B == nullptr && !b_is_small() && call.a_col == 1 && reads_a,
        .a_by_pages = call.a_col * bytes % 4096 == 0};
    return B == nullptr ? block(in) : block_packed(in, B->kc(), B->nr(), B->nr());
  }

  /// Who packs A and B of a product with many rows.
  void choose_packing() {
    const index_t rows = std::min(call.M, kBlockOfC), cols = std::min(call.N, plan.most_cols);
    const auto bytes = static_cast<index_t>(sizeof(In));
    const Blocking& blocks = plan.blocks;
    const index_t b_step = step_of_b(call);
    // Rows of A are read in place.
    const bool a_is_near = call.a_col == 1 && rows * call.K * bytes <= most_of_a_in_place();
    const bool a_passes_once = rows <= plan.mr || cols <= blocks.nr;
    const bool a_stays = (a_is_near || cols <= 2 * blocks.nr) && !rows_meet(call.a_row * bytes);
    const bool packs_a =
        !kernels.reads_a(call.K, call.a_row, call.a_col) || !(a_passes_once || a_stays);
    const bool b_fits =
        (B == nullptr && b_is_small()) ||
        blocks.kc * b_step <= (plan.is_wide ? caches().l2 * 5 / 8 : caches().l2 / 4);
    const bool packs_b = !unpacked || call.b_col != 1 ||
                         b_crowds_l1(rows, call.K, b_step, plan.mr) ||
                         !(rows <= 2 * plan.mr || b_fits);
    // Each thread packs its own copy of the panels of a transposed A where packing is a plain copy:
    // panels packed by a core of another L3 are slow to read, and all panels together do not fit
    // L2. For a tile unit with a far L3, where that is no more than once more.
    const bool is_far = tuning().far_l3 != 0;
    const bool copies_a =
        call.threads > 1 &&
        (is_far ? plan.mr > Table::kMaxRows && cols <= 2 * blocks.nc : unpacked && call.a_col != 1);
    plan.a = !packs_a                        ? Packing::none
             : cols > blocks.nc && !copies_a ? Packing::shared
                                             : Packing::own;
    plan.b = B != nullptr                          ? Packing::by_caller
             : !packs_b                            ? Packing::none
             : call.threads > 1 && blocks.shares_b ? Packing::shared
                                                   : Packing::own;
  }

  /// The same for the forms in which B is read once.
  void choose_packing_for_few_rows() {
    const Stream stream = plan.blocks.stream;
    // One or two rows of A are read unpacked where K-groups are single elements.
    const bool leaves_a =
        stream == Stream::strips ||
        (stream == Stream::dots && call.M <= (call.a_col == 1 ? kDotRowsOfAnyA : 2) && unpacked);
    plan.a = leaves_a ? Packing::none : Packing::own;
    plan.b = plan.is_unpacked() ? Packing::none : Packing::own;
    if (stream == Stream::axpy) {
      const index_t groups = ceil_div(call.M, kernels.axpy_rows());
      plan.axpy = kernels.axpy_entry(static_cast<int>(ceil_div(call.M, groups)));
    }
  }

  /// Rows of A that use a panel of B while it is packed, and afterwards.
  void choose_rows() {
    const Blocking& blocks = plan.blocks;
    const index_t bytes = blocks.kc * static_cast<index_t>(sizeof(KGroup));
    plan.prefetches_b = plan.reads_panels_of_b() && tuning().far_l3 == 0 &&
                        plan.mr <= Table::kMaxRows && plan.k_groups >= kPrefetchDepth &&
                        (2 * blocks.nr + kFirstRows) * bytes <= caches().l2 * 3 / 4;
    plan.fuses_b = plan.packs_b() && kernels.copies_b(call.K) && call.b_col == 1 &&
                   tuning().far_l3 == 0 &&
                   (plan.is_wide || std::min(call.N, plan.most_cols) > 4 * blocks.nr);
    const index_t room =
        plan.prefetches_b ? caches().l2 * 3 / 4 - 2 * blocks.nr * bytes : caches().l2 / 2;
    const index_t most = plan.mr > Table::kMaxRows ? plan.mr : std::min(kBlockRows, room / bytes);
    plan.block_rows = plan.is_wide ? round_up(kFirstRows, plan.mr)
                                   : std::max<index_t>(1, most / plan.mr) * plan.mr;
    plan.first_rows = round_up(blocks.stream == Stream::panels ? blocks.mc
                               : plan.fuses_b                  ? kFirstRows
                                                               : plan.block_rows,
                               plan.mr);
  }

  /// Where sums are kept and how C is stored.
  void choose_stores() {
    plan.finish = is_plain(call)                     ? FinishAt::never
                  : finishes_in_tiles(call, kernels) ? FinishAt::tiles
                                                     : FinishAt::after;
    const bool in_c = std::is_same_v<Sum, Out> && call.c_col == 1 && call.beta == 0 &&
                      plan.blocks.stream != Stream::axpy;
    plan.sums = in_c                                                  ? SumsIn::c
                : plan.kc_blocks > 1 || plan.is_unpacked() || goes_on ? SumsIn::workspace
                                                                      : SumsIn::tile;
    // Rows of sums an odd number of cache lines apart are in different sets.
    constexpr index_t line = 64 / static_cast<index_t>(sizeof(Sum));
    plan.sums_row = (ceil_div(std::min(call.N, plan.most_cols), line) | 1) * line;
    // A large C that is written once and not read again uses non-temporal stores, if its vectors
    // are aligned. Not with an epilogue, whose loads would wait for such stores.
    constexpr auto size = static_cast<index_t>(sizeof(Out));
    const index_t vector = kernels.lanes * size;
    const bool only_stores =
        plan.finish == FinishAt::never ||
        (plan.finish == FinishAt::tiles && call.beta == Scalar{0} && call.last.changes_nothing());
    const bool streams = only_stores && plan.kc_blocks == 1 && !goes_on &&
                         plan.blocks.stream == Stream::none && call.c_row * size % vector == 0 &&
                         call.M * call.N * size > 8 * caches().l2;
    const auto beyond = static_cast<index_t>(reinterpret_cast<std::uintptr_t>(call.C) %
                                             static_cast<std::uintptr_t>(vector));
    plan.streams_c = streams && beyond == 0;
    const index_t before = (vector - beyond) % vector / size;
    plan.columns_before = streams && beyond % size == 0 && before < call.N ? before : 0;
  }

  PackedWorkspace workspace() const {
    const auto size = [](index_t n) { return static_cast<std::size_t>(n); };
    const auto k_groups = [&](index_t n) { return Workspace::rounded(size(n) * sizeof(KGroup)); };
    const Blocking& blocks = plan.blocks;
    const index_t rows = std::min(call.M, kBlockOfC), cols = std::min(call.N, plan.most_cols);
    const index_t a_panels = ceil_div(rows, kernels.rows);
    const index_t a_depth = blocks.kc + kernels.a_extra, b_depth = blocks.kc + kernels.b_extra;
    const bool axpys = blocks.stream == Stream::axpy;
    const index_t axpy_rows = axpys ? round_up(call.M, Table::kAxpyRows[plan.axpy]) : 0;
    PackedWorkspace out{};
    out.a_shares = plan.shares_a() ? a_panels : 0;
    out.b_shares =
        plan.shares_b() ? ceil_div(cols, blocks.nc) * ceil_div(blocks.nc, plan.share_columns) : 0;
    out.a_kc_block = plan.shares_a() ? k_groups(a_panels * kernels.rows * a_depth) : 0;
    out.b_kc_block =
        plan.shares_b() ? k_groups(ceil_div(cols, blocks.nc) * plan.task_columns() * b_depth) : 0;
    const index_t sums_rows = axpys ? axpy_rows
                              : blocks.stream == Stream::strips
                                  ? std::min<index_t>(rows, kernels.rows)
                                  : rows;
    out.sums = plan.sums == SumsIn::workspace
                   ? Workspace::rounded(size(sums_rows * plan.sums_row) * sizeof(Sum))
                   : 0;
    out.states =
        Workspace::rounded(size(out.a_shares + out.b_shares) * sizeof(std::atomic<std::uint32_t>));
    const index_t a_rows = axpys                           ? axpy_rows
                           : blocks.stream == Stream::dots ? call.M
                           : blocks.stream == Stream::copied
                               ? round_up(blocks.mc, kernels.rows)
                               : std::max(round_up(plan.block_rows, kernels.rows),
                                          round_up(plan.first_rows, kernels.rows));
    const index_t b_cols = blocks.stream == Stream::copied ? blocks.stream_panels * blocks.nr
                           : plan.keeps_b()                ? plan.task_columns()
                                                           : blocks.nr;
    // For A: packed rows, or the row sums of unpacked rows.
    const bool uses_a_own = plan.packs_a() || plan.fuses_b || kernels.sum_rows != nullptr;
    out.a_own = uses_a_own ? k_groups(a_rows * a_depth) : 0;
    out.b_own = plan.packs_b() ? k_groups(b_cols * b_depth) : 0;
    const index_t tasks = ceil_div(rows, blocks.mc) * ceil_div(cols, blocks.nc);
    const std::size_t workers = size(std::min<index_t>(call.threads, tasks));
    out.total =
        out.a_kc_block + out.b_kc_block + out.sums + out.states + workers * (out.a_own + out.b_own);
    return out;
  }

  PackedPlan run() {
    plan.k_groups = ceil_div(call.K, kernels.group);
    plan.is_wide = B == nullptr && is_wide();
    plan.mr = plan.is_wide ? kernels.wide_rows : kernels.rows;
    plan.blocks = cut();
    plan.kc_blocks = ceil_div(plan.k_groups, plan.blocks.kc);
    plan.most_cols = even_part(call.N, kBlockOfC, B == nullptr ? kernels.lanes : plan.blocks.nr);
    plan.share_columns = round_up(kShareColumns, plan.blocks.nr);
    if (plan.blocks.stream == Stream::none) choose_packing();
    else choose_packing_for_few_rows();
    choose_rows();
    choose_stores();
    plan.workspace = workspace();
    return plan;
  }
};

/// The plan of a product that `call.threads` threads, at least one, compute.
template <class In, class Out, class Table>
PackedPlan plan_packed(const Gemm<In, Out>& call, const Table& kernels,
                       const PackedMatrix<In>* B = nullptr) {
  return Planner<In, Out, Table>{call, kernels, B}.run();
}

}  // namespace tessera::cpu
