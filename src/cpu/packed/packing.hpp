// The packing of panels of A and shares of B in a packed product, each once for all threads where
// they share it. Part of product.hpp, which includes it. Measurements: bench/results/cpu/tuning.md.
#pragma once

#include "product.hpp"

namespace tessera::cpu {

template <class In, class Out, class Table>
inline void Product<In, Out, Table>::pack_share(KGroup* to, const Part& part, index_t j,
                                                index_t j_end) const {
  const index_t nr = plan_.blocks.nr, depth = part.k_groups + kernels_.b_extra;
  index_t whole = j;
  while (panel_of(j_end - whole) == nr) whole += nr;
  if (whole > j) pack_panels_of_b(to, part, j, whole);
  to += (whole - j) * depth;
  for (j = whole; j < j_end; to += nr * depth) {
    const index_t next = j + panel_of(j_end - j);
    pack_panels_of_b(to, part, j, next);
    j = next;
  }
}

/// Rows i0 to i1 of A, panel after panel, or unpacked. Packed blocks of a KC block are shared among
/// threads, as B's shares are. All panels of a block are packed at once, because a row of a
/// transposed A spans several.
template <class In, class Out, class Table>
inline auto Product<In, Out, Table>::block_of_a(int worker, const Part& part, index_t i0,
                                                index_t i1) -> Block {
  if (!plan_.packs_a()) {
    const KGroup* a = in_k_groups(call_.A + (i0_ + i0) * call_.a_row + part.k0 * call_.a_col);
    if (kernels_.sum_rows == nullptr) return {i0, i1, a, false};
    Sum* const shifts = reinterpret_cast<Sum*>(own_a(worker));
    kernels_.sum_rows(shifts, a, i1 - i0, part.k_groups, a_row());
    return {i0, i1, a, false, shifts};
  }
  if (!plan_.shares_a()) return {i0, i1, pack_block(own_a(worker), part, i0, i1), true};
  KGroup* shared = a_kc_block_ + i0 * (plan_.blocks.kc + kernels_.a_extra);
  State& state = a_states_[i0 / kernels_.rows];
  if (begins(state, part.kc_block)) pack_block(shared, part, i0, i1), ends(state, part.kc_block);
  const bool is_there = state.load(std::memory_order_acquire) == version(part.kc_block);
  return {i0, i1, is_there ? shared : pack_block(own_a(worker), part, i0, i1), true};
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

}  // namespace tessera::cpu
