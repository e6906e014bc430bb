// The operands of a problem as `warpgroup` takes them (kernels/warpgroup_tiled.hpp), for any
// engine: with maps for bulk copies. Private to src/matmul.
#pragma once

#include "bulk_maps.hpp"
#include "ladder/tiles.hpp"
#include "operands.hpp"
#include "tessera/kernels/warpgroup_tiled.hpp"
#include "tessera/ops/bulk_matrix.hpp"

namespace tessera::detail {

/// A product as the kernel takes it.
template <class Kernel, class In, class Out>
using MemberOf = GroupMember<BulkMatrix<typename Kernel::template LoadA<In>>,
                             BulkMatrix<typename Kernel::template LoadB<In>>,
                             BulkMatrix<SliceTile<Out>>, Output<Tensor<Out*, kAnyMatrix>>>;

/// C for bulk stores; empty where it has an epilogue, or where they cannot store to it.
template <class Out, class C, class Make>
BulkMatrix<SliceTile<Out>> slices_of(const Problem& p, const C& to, const Make& make) {
  using Slices = SliceTile<Out>;
  const auto& s = to.scalars;
  const bool is_plain = s.alpha == 1 && s.beta == 0 && to.bias == nullptr &&
                        s.last.changes_nothing() && (p.c.col == 1 || p.N == 1);
  // Bulk stores write whole 16-byte chunks, also where the last one of a row is partly outside.
  if (!is_plain || p.N * static_cast<index_t>(sizeof(Out)) % 16 != 0) return {};
  const BulkFields fields = bulk_fields<Slices>(to.c.data(), p.M, p.N, p.c.row, p.c.col);
  if (!why_no_map(fields).empty()) return {};
  return {make(fields), static_cast<int>(p.M), static_cast<int>(p.N)};
}

/// `make` makes the maps, software_map or cuda::tensor_map.
template <class Kernel, class In, class Out, class Make>
MemberOf<Kernel, In, Out> member_of(const Problem& p, const void* a, const void* b, void* c,
                                    const void* bias, const Make& make) {
  return with_operands<In, Out>(p, a, b, c, bias, [&](const auto& A, const auto&, const auto& C) {
    const index_t K = valid<1>(A);
    const auto map = map_if_read(p, make);
    const auto gA = bulk_operand<typename Kernel::template LoadA<In>>(map, a, p.M, K, p.a.row,
                                                                      p.a.col);  // (M,K)
    const auto gB = bulk_operand<typename Kernel::template LoadB<In>>(map, b, p.N, K, p.b.col,
                                                                      p.b.row);  // (N,K)
    return MemberOf<Kernel, In, Out>{gA, gB, slices_of<Out>(p, C, make), C};
  });
}

/// body(A, B, slices, C) with the operands of a single product.
template <class Kernel, class In, class Out, class Make, class Body>
void with_bulk_operands(const Problem& p, const void* a, const void* b, void* c, const void* bias,
                        const Make& make, const Body& body) {
  const auto one = member_of<Kernel, In, Out>(p, a, b, c, bias, make);
  body(one.a, one.b, one.slices, one.c);
}

/// The tiles for products of this type.
template <class In>
using WarpgroupTilesOf = std::conditional_t<sizeof(In) == 1, WarpgroupByteTiles, WarpgroupTiles>;

/// Kernel<tile> for elements of In, for the requested tile of its list.
template <class In, class Tiles = WarpgroupTilesOf<In>>
struct WarpgroupLadder;
template <class In, int Typed, TileShape... Tiles>
struct WarpgroupLadder<In, TileList<Typed, Tiles...>> {
  template <class Body>
  static void with_kernel(const TileShape& tile, const Body& body) {
    (void)((tile == Tiles &&
            (body(WarpgroupTiled<Tiles, cluster_of(Tiles), 0, Products::one, kAddsOf<In>>{}),
             true)) ||
           ...);
  }
};

}  // namespace tessera::detail
