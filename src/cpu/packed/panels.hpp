// A task of the packed product whose B is in panels or in L3: the loops around the microkernel.
// Part of product.hpp, which includes it.
#pragma once

#include "product.hpp"

namespace tessera::cpu {

/// Sets the destination of the sums of a part and the strides of operands, which all of its
/// micro-tiles share.
template <class In, class Out, class Table>
inline auto Product<In, Out, Table>::micro_tile(const Part& part, Sum* temporary) const
    -> MicroTile<KGroup, Sum> {
  MicroTile<KGroup, Sum> micro{};
  const bool apart = plan_.sums == SumsIn::workspace;
  micro.c = apart ? sums_ : temporary;
  micro.c_row = apart ? plan_.sums_row : kMostColumns;
  if constexpr (std::is_same_v<Sum, Out>) {
    if (plan_.sums == SumsIn::c)
      micro.c = call_.C + i0_ * call_.c_row + j0_, micro.c_row = call_.c_row;
  }
  micro.K = part.k_groups;
  micro.a_row = plan_.packs_a() ? 1 : a_row();
  micro.a_k = plan_.packs_a() ? kernels_.rows : call_.a_col;
  micro.b_k = plan_.reads_panels_of_b() ? plan_.blocks.nr : call_.b_row;
  micro.resume = part.kc_block > 0 || goes_on();
  micro.stream = plan_.streams_c;
  return micro;
}

/// Multiplies one micro-tile at (i, j) and applies the epilogue after the last KC block.
template <class In, class Out, class Table>
inline void Product<In, Out, Table>::multiply(MicroTile<KGroup, Sum>& micro, const Part& part,
                                              bool packed_a, index_t i, index_t j) const {
  const int vectors = kernels_.vectors_of(micro.cols);
  const bool fills = kernels_.fills_vectors(micro.cols),
             is_masked = !plan_.reads_panels_of_b() && !fills;
  const auto& table = micro.copy != nullptr ? kernels_.fused_packing
                      : is_masked           ? kernels_.masked[ends_in_tile(part)]
                      : packed_a            ? kernels_.packed
                                            : kernels_.direct;
  const auto run = table[kernels_.entry(micro.rows)][vectors - 1];
  if (!finishes(part)) run(micro);
  else
    run_and_finish_tile(call_, call_.C, kernels_, run, ends_in_tile(part) && (fills || is_masked),
                        micro, i0_ + i, j0_ + j, micro.rows);
}

/// A task's part of B is in L3 or L2, packed or not. A few panels of A stay in L2 while it is
/// streamed.
template <class In, class Out, class Table>
inline void Product<In, Out, Table>::run_packed(int worker, const Part& part) {
  const KGroup* shares[kMostShares];  // first columns of the shares of B
  const index_t count = ceil_div(part.j_end - part.j, plan_.share_columns);
  index_t i = part.i;
  if (plan_.packs_b()) i = run_first_block(worker, part, shares);
  else find_b(part, shares);
  for (index_t i_end; i < part.i_end; i = i_end) {
    i_end = std::min(part.i_end, i + plan_.block_rows);
    const Block block = block_of_a(worker, part, i, i_end);
    for (index_t s = 0; s < count; ++s)
      multiply_share(part, block, s, shares[s], nullptr, s + 1 < count ? shares[s + 1] : nullptr);
  }
}

/// The shares of a part of B that need no packing.
template <class In, class Out, class Table>
inline void Product<In, Out, Table>::find_b(const Part& part, const KGroup** shares) const {
  const index_t count = ceil_div(part.j_end - part.j, plan_.share_columns);
  const index_t depth = part.k_groups + kernels_.b_extra;
  for (index_t s = 0; s < count; ++s) {
    const index_t j = j0_ + part.j + s * plan_.share_columns;
    if (packed_b_ != nullptr) {
      shares[s] =
          packed_b_ + j * depth +
          part.kc_block * (plan_.blocks.kc + kernels_.b_extra) * round_up(call_.N, plan_.blocks.nr);
    } else if constexpr (kUnpacked) {
      shares[s] = call_.B + part.k0 * call_.b_row + j;
    }
  }
}

/// The first rows of a part, while B is packed: by fused packing where possible, else share by
/// share. The first thread that needs a share packs it, and each starts with another share; a
/// share that another thread is still packing is packed again, so that no thread waits. Returns
/// the row after them.
template <class In, class Out, class Table>
inline index_t Product<In, Out, Table>::run_first_block(int worker, const Part& part,
                                                        const KGroup** shares) {
  const index_t i_end = std::min(part.i_end, part.i + plan_.first_rows);
  const index_t count = ceil_div(part.j_end - part.j, plan_.share_columns);
  const index_t depth = part.k_groups + kernels_.b_extra;
  State* const states =
      b_states_ + part.j / plan_.blocks.nc * ceil_div(plan_.blocks.nc, plan_.share_columns);
  const auto is_packed = [&](const State& state) {
    return state.load(std::memory_order_acquire) == version(part.kc_block);
  };
  // The micro-tiles that pack B read a packed A; rows that find B packed leave A in place.
  // Measured: bench/results/cpu/tuning.md.
  const bool packs_a = plan_.fuses_b && !plan_.is_wide && !plan_.packs_a() &&
                       !(plan_.shares_b() && std::all_of(states, states + count, is_packed));
  const Block block =
      packs_a ? Block{part.i, i_end, pack_block(own_a(worker), part, part.i, i_end), true}
              : block_of_a(worker, part, part.i, i_end);
  for (index_t n = 0; n < count; ++n) {
    const index_t s = plan_.shares_b() ? (n + worker * count / call_.threads) % count : n;
    const index_t at = s * plan_.share_columns * depth;
    KGroup* to = own_b(worker) + (plan_.keeps_b() ? at : 0);
    bool packs = true, ends_it = false;
    if (plan_.shares_b()) {
      ends_it = begins(states[s], part.kc_block);
      packs = ends_it || !is_packed(states[s]);
      if (ends_it || !packs)
        to = b_kc_block_ + part.j / plan_.blocks.nc * plan_.task_columns() * depth + at;
    }
    shares[s] = to;
    if (packs && !plan_.fuses_b) {
      const index_t j = part.j + s * plan_.share_columns;
      pack_share(to, part, j, std::min(part.j_end, j + plan_.share_columns));
      packs = false;
      if (ends_it) ends(states[s], part.kc_block);
      ends_it = false;
    }
    multiply_share(part, block, s, to, packs ? to : nullptr);
    if (ends_it) ends(states[s], part.kc_block);
  }
  return i_end;
}

/// A block of A times a share of B, panel by panel. Where `copy` is given, the first rows read B
/// unpacked and pack it there for the others, and all prefetch some of the next panel at the same
/// time.
/// Over 60 lines: the loops around the microkernel, one in another.
template <class In, class Out, class Table>
inline void Product<In, Out, Table>::multiply_share(const Part& part, const Block& block, index_t s,
                                                    const KGroup* b, KGroup* copy,
                                                    const KGroup* next_share) {
  const int mr = plan_.mr, nr = plan_.blocks.nr;
  const index_t first = part.j + s * plan_.share_columns;
  const index_t end = std::min(part.j_end, first + plan_.share_columns);
  const index_t depth =
      plan_.reads_panels_of_b() ? part.k_groups + kernels_.b_extra : 1;  // of a column of B
  const index_t a_step = block.packed ? part.k_groups + kernels_.a_extra : a_row();  // of a row
  alignas(64) Sum temporary[Table::kMostRows * kMostColumns];
  auto micro = micro_tile(part, temporary);
  if (block.packed) micro.a_row = 1, micro.a_k = kernels_.rows;
  Sum* const sums = micro.c;
  const bool in_place = sums != temporary;  // else one micro-tile after the other
  const bool prefetches = part.k_groups >= kPrefetchDepth;
  // The destination of micro-tiles' stores, which is prefetched.
  Sum* next_c = in_place && !plan_.streams_c && prefetches ? sums : nullptr;
  index_t c_row = micro.c_row;
  if constexpr (std::is_same_v<Sum, Out>) {
    if (ends_in_tile(part) && prefetches)
      next_c = call_.C + i0_ * call_.c_row + j0_, c_row = call_.c_row;
  }
  const index_t panels = ceil_div(part.j_end - part.j, nr);
  const bool prefetches_rows =
      prefetches && !block.packed && call_.a_col == 1 && panels <= (call_.threads == 1 ? 4 : 1);
  index_t panel = 0;  // packed before, or unpacked
  for (index_t j = first; j < end;
       j += micro.cols, panel += plan_.reads_panels_of_b() ? nr * depth : micro.cols) {
    micro.cols = panel_of(end - j);
    if (plan_.packs_b() && !plan_.keeps_b()) panel = 0;
    const bool copies = copy != nullptr && kernels_.fills_vectors(micro.cols);
    if (copy != nullptr && !copies) pack_panels_of_b(copy + panel, part, j, j + micro.cols);
    if (!prefetches && copy == nullptr) {
      micro.b = b + panel;
      multiply_shallow(micro, part, block, j, a_step, in_place ? sums : nullptr);
      continue;
    }
    for (index_t i = block.i; i < block.i_end; i += mr) {
      micro.rows = static_cast<int>(std::min<index_t>(mr, block.i_end - i));
      micro.prefetch = micro.prefetch_a = nullptr, micro.prefetch_times = 0;
      micro.a = block.a + (i - block.i) * a_step;
      micro.b = b + panel;
      if (block.shifts != nullptr) micro.shifts = block.shifts + (i - block.i);
      micro.c = in_place ? sums + i * micro.c_row + j : sums;
      micro.next_c = next_c == nullptr             ? nullptr
                     : i + mr < block.i_end        ? next_c + (i + mr) * c_row + j
                     : j + micro.cols < part.j_end ? next_c + block.i * c_row + j + micro.cols
                     : block.i_end < part.i_end    ? next_c + block.i_end * c_row + part.j
                                                   : nullptr;  // another thread's
      if (copies || (plan_.is_wide && !plan_.reads_panels_of_b())) {
        prefetch_next_b(micro, part, block, i, j);
      } else if (plan_.prefetches_b && copy == nullptr) {
        prefetch_share(micro, part, block, i,
                       j + micro.cols < end ? micro.b + nr * depth : next_share,
                       index_t{nr} * sizeof(KGroup), part.k_groups);
      }
      const bool is_masked =
          !plan_.reads_panels_of_b() && !kernels_.fills_vectors(micro.cols);  // prefetches nothing
      if (prefetches_rows && !is_masked && micro.cols > kernels_.lanes)
        prefetch_next_rows(micro, part, block, i, j, panels);
      else if (prefetches && copy == nullptr)
        prefetch_next_a(part, block.i_end, i + block.i_end - block.i, j);
      if (copies && i == block.i) {
        auto first_rows = micro;
        first_rows.b = in_k_groups(call_.B + part.k0 * call_.b_row + j0_ + j);
        first_rows.b_k = call_.b_row;
        first_rows.copy = copy + panel, first_rows.copy_k = nr;
        multiply(first_rows, part, block.packed, i, j);
      } else {
        multiply(micro, part, block.packed, i, j);
      }
    }
  }
}

/// A block of A times one panel of B with so small a K that prefetching does not pay off and the
/// overhead between micro-tiles matters. Measured: bench/results/cpu/tuning.md.
template <class In, class Out, class Table>
inline void Product<In, Out, Table>::multiply_shallow(MicroTile<KGroup, Sum>& micro,
                                                      const Part& part, const Block& block,
                                                      index_t j, index_t a_step, Sum* sums) const {
  const int vectors = kernels_.vectors_of(micro.cols);
  const bool fills = kernels_.fills_vectors(micro.cols),
             is_masked = !plan_.reads_panels_of_b() && !fills;
  const bool finishes_it = finishes(part), ends = ends_in_tile(part) && (fills || is_masked);
  const bool prefetches_c = ends && adds_to_far_c();
  const auto& table = is_masked                    ? kernels_.masked[ends]
                      : block.packed               ? kernels_.packed
                      : kUnpacked && !prefetches_c ? kernels_.no_prefetch[ends]
                                                   : kernels_.direct;
  const index_t c_step = sums != nullptr ? plan_.mr * micro.c_row : 0;
  if (sums != nullptr) micro.c = sums + block.i * micro.c_row + j;
  micro.a = block.a;
  micro.next_c = nullptr, micro.prefetch = micro.prefetch_a = nullptr, micro.prefetch_times = 0;
  if constexpr (std::is_same_v<Sum, Out>) {
    if (ends) {  // the epilogue is the same for all, but for where its biases are
      FinishRow<Scalar> how = finish_at(call_, i0_ + block.i, j0_ + j);
      micro.finish = &how;
      micro.to = call_.C + (i0_ + block.i) * call_.c_row + j0_ + j, micro.to_row = call_.c_row;
      const index_t step = plan_.mr * micro.to_row;
      for (index_t i = block.i; i < block.i_end; i += plan_.mr) {
        micro.rows = static_cast<int>(std::min<index_t>(plan_.mr, block.i_end - i));
        if (block.shifts != nullptr) micro.shifts = block.shifts + (i - block.i);
        if (prefetches_c) micro.next_c = micro.to + step;
        table[kernels_.entry(micro.rows)][vectors - 1](micro);
        if (!how.last.changes_nothing()) finish_last_step(kernels_, micro, micro.rows);
        micro.a += plan_.mr * a_step, micro.c += c_step, micro.to += step;
        if (how.row_bias != nullptr) how.row_bias += plan_.mr;
      }
      micro.finish = nullptr;
      return;
    }
  }
  for (index_t i = block.i; i < block.i_end; i += plan_.mr) {
    micro.rows = static_cast<int>(std::min<index_t>(plan_.mr, block.i_end - i));
    if (block.shifts != nullptr) micro.shifts = block.shifts + (i - block.i);
    table[kernels_.entry(micro.rows)][vectors - 1](micro);
    if (finishes_it)
      finish_tile(call_, call_.C, kernels_, micro.c, micro.c_row, i0_ + i, j0_ + j, micro.rows,
                  micro.cols);
    micro.a += plan_.mr * a_step, micro.c += c_step;
  }
}

}  // namespace tessera::cpu
