// What the packed product prefetches while it multiplies: rows and panels of A and B. Part of
// product.hpp, which includes it. Measurements: bench/results/cpu/tuning.md.
#pragma once

#include "product.hpp"

namespace tessera::cpu {

/// What register tile (i, j) prefetches while it multiplies.
template <class In, class Out, class Table>
inline void Product<In, Out, Table>::prefetch(Tiles& tiles, const Part& part, const Block& block,
                                              index_t i, index_t j) const {
  auto& micro = tiles.micro;
  const index_t next_i = i + plan_.mr, next_j = j + micro.cols, c_row = tiles.next_c_row;
  micro.prefetch = micro.prefetch_a = nullptr, micro.prefetch_times = 0;
  micro.next_c = tiles.next_c == nullptr    ? nullptr
                 : next_i < block.i_end     ? tiles.next_c + next_i * c_row + j
                 : next_j < part.j_end      ? tiles.next_c + block.i * c_row + next_j
                 : block.i_end < part.i_end ? tiles.next_c + block.i_end * c_row + part.j
                                            : nullptr;  // another thread's
  const bool is_unpacked = !plan_.reads_panels_of_b();
  if (tiles.copy != nullptr || (plan_.is_wide && is_unpacked)) {
    prefetch_next_b(micro, part, block, i, j);
  } else if (plan_.prefetches_b && !tiles.packs) {
    prefetch_share(micro, part, block, i, tiles.next_b, plan_.blocks.nr * index_t{sizeof(KGroup)},
                   part.k_groups);
  }
  // Masked microkernels prefetch nothing.
  const bool is_masked = is_unpacked && !kernels_.fills_vectors(micro.cols);
  if (tiles.prefetches_rows && !is_masked && micro.cols > kernels_.lanes)
    prefetch_next_rows(micro, part, block, i, j, tiles.panels);
  else if (tiles.prefetches && !tiles.packs)
    prefetch_next_a(part, block.i_end, i + block.i_end - block.i, j);
}

/// A micro-tile of a block prefetches its share of the panel of B that follows column j: to the
/// right, or, where no other rows come first, of the next KC block.
template <class In, class Out, class Table>
inline void Product<In, Out, Table>::prefetch_next_b(MicroTile<KGroup, Sum>& micro,
                                                     const Part& part, const Block& block,
                                                     index_t i, index_t j) const {
  const bool wraps = j + micro.cols >= part.j_end;
  const index_t k0 = wraps ? part.k0 + part.k : part.k0;
  const bool ends = wraps && (plan_.shares_b() || block.i_end < part.i_end);
  const index_t rows = ends ? 0 : std::min(plan_.blocks.kc * kernels_.group, call_.K - k0);
  const auto* panel = call_.B + k0 * call_.b_row + j0_ + (wraps ? part.j : j + micro.cols);
  constexpr auto bytes = static_cast<index_t>(sizeof(In));
  const index_t step = call_.b_row * bytes;
  if (const index_t width = plan_.blocks.nr * bytes; width > 64) {
    prefetch_share(micro, part, block, i, reinterpret_cast<const char*>(panel) + kLineEnd, step,
                   rows);
  } else {  // some rows at a time, of each the cache line that the previous panel has not read
    const int vectors = kernels_.vectors_of(micro.cols);
    prefetch_share(micro, part, block, i, reinterpret_cast<const char*>(panel) + width - 1,
                   step * vectors, rows / vectors);
    micro.prefetch_line = step;
  }
}

/// Few panels: a micro-tile (i, j) prefetches, while it multiplies, the rows of A that come next,
/// in place: those of the next micro-tile, where the part of B is one panel, else its share of
/// those of the next block.
template <class In, class Out, class Table>
inline void Product<In, Out, Table>::prefetch_next_rows(MicroTile<KGroup, Sum>& micro,
                                                        const Part& part, const Block& block,
                                                        index_t i, index_t j,
                                                        index_t panels) const {
  const bool is_all = panels == 1;
  index_t row = i + (is_all ? plan_.mr : block.i_end - block.i), k0 = part.k0;
  if ((is_all ? row : block.i_end) >= part.i_end) {  // of the next KC block, if it is this thread's
    row = is_all ? part.i : part.i + (i - block.i), k0 += part.k;
    if (plan_.shares_a() || plan_.shares_b() || k0 >= call_.K) return;
  }
  if (row >= part.i_end) return;
  const index_t bytes = std::min(part.k, call_.K - k0) * static_cast<index_t>(sizeof(In));
  const index_t begin = ceil_div(j - part.j, plan_.blocks.nr) * bytes / panels / 64 * 64;
  micro.prefetch_a =
      reinterpret_cast<const char*>(call_.A + (i0_ + row) * call_.a_row + k0) + begin;
  micro.prefetch_a_bytes = std::min(bytes - begin, ceil_div(bytes, panels) + 63);
  const index_t times = plan_.mr * micro.prefetch_a_bytes / (64 * kernels_.vectors_of(micro.cols));
  if (micro.prefetch == nullptr) micro.prefetch_times = std::min(times, part.k_groups / 4);
}

/// A micro-tile at row i of a block prefetches its share of the rows of a panel, `step` bytes
/// apart.
template <class In, class Out, class Table>
inline void Product<In, Out, Table>::prefetch_share(MicroTile<KGroup, Sum>& micro, const Part& part,
                                                    const Block& block, index_t i,
                                                    const void* panel, index_t step,
                                                    index_t rows) const {
  const index_t tiles = ceil_div(block.i_end - block.i, plan_.mr), tile = (i - block.i) / plan_.mr;
  const index_t row = tile * rows / tiles;
  micro.prefetch_times = std::min((tile + 1) * rows / tiles - row, part.k_groups / 2);
  micro.prefetch_k = step;
  micro.prefetch_line = 64;
  if (panel == nullptr || micro.prefetch_times <= 0) micro.prefetch_times = 0;
  else micro.prefetch = static_cast<const char*>(panel) + row * step;
}

/// The block of B that follows column j of a part: further along the rows, or the next rows.
template <class In, class Out, class Table>
inline auto Product<In, Out, Table>::next_block(const Part& part, index_t j) const -> Prefetch {
  if (call_.b_col != 1) return {};
  const bool wraps = j >= part.j_end;
  const index_t k0 = wraps ? part.k0 + part.k : part.k0;
  if (wraps) j = part.j;
  Prefetch out;
  out.row = reinterpret_cast<const char*>(call_.B + k0 * call_.b_row + j0_ + j) + kLineEnd;
  out.row_step = call_.b_row * static_cast<index_t>(sizeof(In));
  out.row_bytes = std::min(part.j_end - j, plan_.blocks.stream_panels * plan_.blocks.nr) *
                  static_cast<index_t>(sizeof(In));
  out.lines = std::min(plan_.blocks.kc, call_.K - k0) * ceil_div(out.row_bytes, 64);
  return out;
}

/// Prefetches a part of the next panel of A into the cache, while micro-tile j of `columns`
/// columns is multiplied: the same fraction of the panel as that tile has of the columns. Its
/// block begins at row i0.
template <class In, class Out, class Table>
inline void Product<In, Out, Table>::prefetch_next_a(const Part& part, index_t i0, index_t i,
                                                     index_t j) const {
  const index_t columns = part.j_end - part.j;
  if (i + kernels_.rows > part.i_end || columns <= plan_.blocks.nr) return;
  const auto prefetch = [&](const auto* from, index_t count) {
    constexpr index_t line = 64 / sizeof(*from);
    const index_t share = (count * plan_.blocks.nr / columns + line) / line * line;
    const index_t begin = ceil_div(j - part.j, plan_.blocks.nr) * share;
    for (index_t at = begin; at < std::min(count, begin + share); at += line)
      __builtin_prefetch(from + at, 0, 2);
  };
  if (plan_.shares_a() &&
      a_states_[i0 / kernels_.rows].load(std::memory_order_relaxed) == version(part.kc_block)) {
    const index_t depth = part.k_groups + kernels_.a_extra;
    prefetch(a_kc_block_ + i0 * (plan_.blocks.kc + kernels_.a_extra) + (i - i0) * depth,
             depth * kernels_.rows);
  } else if (call_.a_col == 1) {
    const auto* from = call_.A + (i0_ + i) * call_.a_row + part.k0;
    for (int r = 0; r < kernels_.rows; ++r) prefetch(from + r * call_.a_row, part.k);
  }
}

}  // namespace tessera::cpu
