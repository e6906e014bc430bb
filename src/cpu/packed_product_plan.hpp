// How the packed product decides: what is packed, shared and kept, the blocks, and the memory for
// all of it. Part of packed_product.hpp, which includes it.
#pragma once

#include "packed_product.hpp"

namespace tessera::cpu {

// Over 60 lines: it plans the product; everything else reads its decisions.
template <class In, class Out, class Table>
inline Product<In, Out, Table>::Product(const Gemm<In, Out>& call, const Table& kernels,
                                        const PackedMatrix<In>* B)
    : call_(call),
      kernels_(kernels),
      k_groups_(ceil_div(call.K, kernels.group)),
      wide_(B == nullptr && is_wide(call, kernels)),
      mr_(wide_ ? kernels.wide_rows : kernels.rows),
      blocks_(cut(B)),
      kc_blocks_(ceil_div(k_groups_, blocks_.kc)),
      plain_(is_plain(call)),
      ends_in_tiles_(finishes_in_tiles(call, kernels)),
      packed_b_(B == nullptr ? nullptr : static_cast<const KGroup*>(B->data())),
      most_cols_(even_part(call.N, kBlockOfC, B == nullptr ? kernels.lanes : blocks_.nr)),
      share_columns_(round_up(kShareColumns, blocks_.nr)) {
  const index_t rows = std::min(call.M, kBlockOfC), cols = std::min(call.N, most_cols_);
  const auto bytes = static_cast<index_t>(sizeof(In));
  if (one_kc_block()) {
    // One or two rows of A are read unpacked where K-groups are single elements.
    pack_a_ = blocks_.stream == Stream::dots &&
              (call.M > (call.a_col == 1 ? kDotRowsOfAnyA : 2) || kernels.group > 1);
    pack_b_ = false;
  } else if (blocks_.stream == Stream::axpy) {
    pack_a_ = true, pack_b_ = false;
    const index_t groups = ceil_div(call.M, kernels.axpy_rows());
    axpy_ = kernels.axpy_entry(static_cast<int>(ceil_div(call.M, groups)));
  } else if (blocks_.stream != Stream::none) {
    pack_a_ = pack_b_ = true;
  } else {
    const index_t b_step = std::abs(call.b_row) * bytes;
    // Rows of A are read in place. Measured: bench/results/cpu/tuning.md.
    const bool a_lies_well = call.a_col == 1 && rows * call.K * bytes <= most_of_a_in_place();
    const bool a_passes_once = rows <= mr_ || cols <= blocks_.nr;
    const bool a_stays = (a_lies_well || cols <= 2 * blocks_.nr) && !rows_meet(call.a_row * bytes);
    pack_a_ = !kernels.reads_a(call.K, call.a_row, call.a_col) || !(a_passes_once || a_stays);
    const bool b_fits = (packed_b_ == nullptr && b_is_small()) ||
                        blocks_.kc * b_step <= (wide_ ? caches().l2 * 5 / 8 : caches().l2 / 4);
    pack_b_ = packed_b_ != nullptr || !kUnpacked || call.b_col != 1 ||
              b_crowds_l1(rows, call.K, b_step, mr_) || !(rows <= 2 * mr_ || b_fits);
    // Each thread packs its own copy of the panels of a transposed A where packing is a plain
    // copy: panels packed by a core of another L3 are slow to read, and all panels together do
    // not fit L2. Measured: bench/results/cpu/tuning.md.
    const bool copies_a = kUnpacked && call.a_col != 1 && call.threads > 1 && !l3_is_far();
    share_a_ = pack_a_ && cols > blocks_.nc && !copies_a;
    share_b_ = pack_b_ && packed_b_ == nullptr && call.threads > 1 && blocks_.shares_b;
  }
  prefetches_b_ =
      pack_b_ && !l3_is_far() && mr_ <= Table::kMaxRows && k_groups_ >= kPrefetchDepth &&
      (2 * blocks_.nr + kFirstRows) * blocks_.kc * static_cast<index_t>(sizeof(KGroup)) <=
          caches().l2 * 3 / 4;
  packs_b_ = pack_b_ && packed_b_ == nullptr;
  fuses_b_ = packs_b_ && kernels.copies_b(call.K) && call.b_col == 1 && !l3_is_far() &&
             (wide_ || cols > 4 * blocks_.nr);
  first_rows_ = round_up(blocks_.stream == Stream::panels ? blocks_.mc
                         : fuses_b_                       ? kFirstRows
                                                          : block_rows(),
                         mr_);
  keeps_b_ = (packs_b_ && !fuses_b_) || share_b_ || blocks_.mc > first_rows_;
  keeps_sums_ = kc_blocks_ > 1 || axpys() || goes_on();
  sums_in_c_ = std::is_same_v<Sum, Out> && call.c_col == 1 && call.beta == 0 &&
               blocks_.stream != Stream::axpy;
  // Rows of sums an odd number of cache lines apart are in different sets.
  constexpr index_t line = 64 / static_cast<index_t>(sizeof(Sum));
  sums_row_ = (ceil_div(cols, line) | 1) * line;
  // A large C that is written once and not read again uses non-temporal stores, if its vectors
  // are aligned. Not with an epilogue, whose loads would wait for such stores. Measured:
  // bench/results/cpu/tuning.md.
  constexpr auto size = static_cast<index_t>(sizeof(Out));
  const index_t vector = kernels_.lanes * size;
  const bool only_stores =
      plain_ || (ends_in_tiles_ && call.beta == Scalar{0} && call.last.changes_nothing());
  adds_to_far_c_ = call.beta != Scalar{0} && call.M * call.N * size > caches().l2 / 2;
  const bool streams = only_stores && kc_blocks_ == 1 && !goes_on() &&
                       blocks_.stream == Stream::none && call.c_row * size % vector == 0 &&
                       call.M * call.N * size > 8 * caches().l2;
  const auto beyond = static_cast<index_t>(reinterpret_cast<std::uintptr_t>(call.C) %
                                           static_cast<std::uintptr_t>(vector));
  stream_c_ = streams && beyond == 0;
  const index_t before = (vector - beyond) % vector / size;
  if (streams && beyond % size == 0 && before < call.N) columns_before_ = before;
}

template <class In, class Out, class Table>
inline auto Product<In, Out, Table>::needs() const -> Needs {
  const index_t rows = std::min(call_.M, kBlockOfC), cols = std::min(call_.N, most_cols_);
  const index_t a_panels = ceil_div(rows, kernels_.rows);
  const index_t a_depth = blocks_.kc + kernels_.a_extra;
  const index_t b_depth = blocks_.kc + kernels_.b_extra;
  Needs out{};
  out.a_shares = share_a_ ? a_panels : 0;
  out.b_shares = share_b_ ? ceil_div(cols, blocks_.nc) * ceil_div(blocks_.nc, share_columns_) : 0;
  out.a_kc_block = share_a_ ? k_groups(a_panels * kernels_.rows * a_depth) : 0;
  out.b_kc_block = share_b_ ? k_groups(ceil_div(cols, blocks_.nc) * task_columns() * b_depth) : 0;
  const index_t sums_rows = blocks_.stream == Stream::axpy ? rows_of_sums()
                            : blocks_.stream == Stream::strips
                                ? std::min<index_t>(rows, kernels_.rows)
                                : rows;
  out.sums = keeps_sums_ && !sums_in_c_
                 ? Workspace::rounded(size(sums_rows * sums_row_) * sizeof(Sum))
                 : 0;
  out.states = Workspace::rounded(size(out.a_shares + out.b_shares) * sizeof(State));
  const index_t a_rows =
      blocks_.stream == Stream::axpy   ? rows_of_sums()
      : blocks_.stream == Stream::dots ? call_.M
      : blocks_.stream == Stream::copied
          ? round_up(blocks_.mc, kernels_.rows)
          : std::max(round_up(block_rows(), kernels_.rows), round_up(first_rows_, kernels_.rows));
  const index_t b_cols = blocks_.stream == Stream::copied ? blocks_.stream_panels * blocks_.nr
                         : keeps_b_                       ? task_columns()
                                                          : blocks_.nr;
  // For A: packed rows, or the row sums of unpacked rows.
  const bool uses_a_own = pack_a_ || fuses_b_ || kernels_.sum_rows != nullptr;
  out.a_own = uses_a_own ? k_groups(a_rows * a_depth) : 0;
  out.b_own = packs_b_ ? k_groups(b_cols * b_depth) : 0;
  const index_t tasks = ceil_div(rows, blocks_.mc) * ceil_div(cols, blocks_.nc);
  const std::size_t workers = size(std::min<index_t>(call_.threads, tasks));
  out.total =
      out.a_kc_block + out.b_kc_block + out.sums + out.states + workers * (out.a_own + out.b_own);
  return out;
}

/// Does one wide micro-tile cover all columns of C, so that each element of A is read once,
/// unpacked?
/// Measured: bench/results/cpu/tuning.md.
template <class In, class Out, class Table>
inline bool Product<In, Out, Table>::is_wide(const Gemm<In, Out>& call, const Table& kernels) {
  return kUnpacked && call.N > kernels.nr() && call.N <= kernels.one_panel() && call.a_col == 1;
}

/// Is all of B better read in place?
template <class In, class Out, class Table>
inline bool Product<In, Out, Table>::b_is_small() const {
  if (!kUnpacked || call_.b_col != 1) return false;
  const index_t step = std::abs(call_.b_row) * static_cast<index_t>(sizeof(In));
  const index_t most = most_in_place(call_.M, call_.K, step, call_.B, call_.threads);
  return call_.K * step <= std::max(most, caches().l2 / 4);
}

template <class In, class Out, class Table>
inline Blocking Product<In, Out, Table>::cut(const PackedMatrix<In>* B) const {
  const BlockingInput in{std::min(call_.M, kBlockOfC),
                         even_part(call_.N, kBlockOfC, 1),
                         k_groups_,
                         mr_,
                         kernels_.lanes,
                         wide_ ? Table::kMaxVectors : kernels_.vectors,
                         sizeof(KGroup),
                         kernels_.group,
                         call_.threads,
                         b_bytes(),
                         std::abs(call_.b_row) * static_cast<index_t>(sizeof(In)),
                         call_.b_col == 1,
                         call_.b_row == 1,
                         kernels_.axpys > 0 && !goes_on(),
                         goes_on() ? 0 : kernels_.dot_rows,
                         B == nullptr && !b_is_small() && call_.a_col == 1 &&
                             kernels_.reads_a(call_.K, call_.a_row, call_.a_col),
                         call_.a_col * static_cast<index_t>(sizeof(In)) % 4096 == 0};
  return B == nullptr ? block(in) : block_packed(in, B->kc(), B->nr(), B->nr());
}

template <class In, class Out, class Table>
inline index_t Product<In, Out, Table>::block_rows() const {
  if (wide_) return round_up(kFirstRows, mr_);
  const index_t bytes = blocks_.kc * static_cast<index_t>(sizeof(KGroup));
  const index_t room =
      prefetches_b_ ? caches().l2 * 3 / 4 - 2 * blocks_.nr * bytes : caches().l2 / 2;
  const index_t most = mr_ > Table::kMaxRows ? mr_ : std::min(kBlockRows, room / bytes);
  return std::max<index_t>(1, most / mr_) * mr_;
}

}  // namespace tessera::cpu
