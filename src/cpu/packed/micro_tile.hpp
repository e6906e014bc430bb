// One register tile of a packed product: its operands and destination, and which microkernel
// computes it. Part of product.hpp, which includes it.
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

/// What the register tiles of a block of A and a share of B have in common. packs: B is packed at
/// the same time. temporary: for one tile, where sums are stored neither in C nor apart.
template <class In, class Out, class Table>
inline auto Product<In, Out, Table>::tiles_of(const Part& part, const Block& block, bool packs,
                                              Sum* temporary) const -> Tiles {
  Tiles tiles{};
  auto& micro = tiles.micro = micro_tile(part, temporary);
  if (block.packed) micro.a_row = 1, micro.a_k = kernels_.rows;
  tiles.a_step = block.packed ? part.k_groups + kernels_.a_extra : a_row();
  tiles.packs = packs;
  tiles.prefetches = part.k_groups >= kPrefetchDepth;
  if (micro.c != temporary) tiles.sums = micro.c;
  if (tiles.sums != nullptr && !plan_.streams_c && tiles.prefetches)
    tiles.next_c = tiles.sums, tiles.next_c_row = micro.c_row;
  if constexpr (std::is_same_v<Sum, Out>) {
    if (ends_in_tile(part) && tiles.prefetches)
      tiles.next_c = call_.C + i0_ * call_.c_row + j0_, tiles.next_c_row = call_.c_row;
  }
  tiles.panels = ceil_div(part.j_end - part.j, plan_.blocks.nr);
  tiles.prefetches_rows = tiles.prefetches && !block.packed && call_.a_col == 1 &&
                          tiles.panels <= (call_.threads == 1 ? 4 : 1);
  return tiles;
}

/// Multiplies one micro-tile at (i, j) and applies the epilogue after the last KC block.
template <class In, class Out, class Table>
inline void Product<In, Out, Table>::multiply(MicroTile<KGroup, Sum>& micro, const Part& part,
                                              bool packed_a, index_t i, index_t j) const {
  const int vectors = kernels_.vectors_of(micro.cols);
  const bool fills = kernels_.fills_vectors(micro.cols),
             is_masked = !plan_.reads_panels_of_b() && !fills;
  const bool ends = ends_in_tile(part) && (fills || is_masked);
  const bool is_shallow = kUnpacked && part.k_groups < kPrefetchDepth && micro.next_c == nullptr;
  const auto& table = micro.copy != nullptr ? kernels_.fused_packing
                      : is_masked           ? kernels_.masked[ends]
                      : packed_a            ? kernels_.packed
                      : is_shallow          ? kernels_.no_prefetch[ends]
                                            : kernels_.direct;
  const auto run = table[kernels_.entry(micro.rows)][vectors - 1];
  if constexpr (kIsComplexPart<In>) {  // what combining the sums reads and writes at once
    for (int r = 0; finishes(part) && call_.c_col == 1 && r < micro.rows; r += 2) {
      for (index_t n = 0; n < micro.cols; n += 64 / index_t{sizeof(Sum)})
        __builtin_prefetch(call_.C + (i0_ + i + r) * call_.c_row + j0_ + j + n, 1);
    }
  }
  if (!finishes(part)) run(micro);
  else
    run_and_finish_tile(call_, call_.C, kernels_, run, ends, micro, i0_ + i, j0_ + j, micro.rows);
}

}  // namespace tessera::cpu
