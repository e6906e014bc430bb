// The operands of a problem as `warpgroup` takes them (kernels/warpgroup_tiled.hpp), for any
// engine runs it: with maps for bulk copies. Private to src/matmul.
#pragma once

#include "ladder_tiles.hpp"
#include "operands.hpp"
#include "tessera/kernels/warpgroup_tiled.hpp"
#include "tessera/ops/bulk_matrix.hpp"

namespace tessera::detail {

/// body(A, B, slices, C): `make` makes the maps, software_map or cuda::tensor_map. `slices` is not
/// empty where C has no epilogue and bulk copies can store to it.
template <class Kernel, class In, class Out, class Make, class Body>
void with_bulk_operands(const Problem& p, const void* a, const void* b, void* c, const void* bias,
                        const Make& make, const Body& body) {
  with_operands<In, Out>(p, a, b, c, bias, [&](const auto& A, const auto&, const auto& C) {
    using Slices = SliceTile<Out>;
    const index_t K = valid<1>(A);
    const auto gA = bulk_operand<typename Kernel::template LoadA<In>>(make, a, p.M, K, p.a.row,
                                                                      p.a.col);  // (M,K)
    const auto gB = bulk_operand<typename Kernel::template LoadB<In>>(make, b, p.N, K, p.b.col,
                                                                      p.b.row);  // (N,K)
    BulkMatrix<Slices> slices;
    const auto& s = C.scalars;
    const bool is_plain = s.alpha == 1 && s.beta == 0 && C.bias == nullptr &&
                          s.last.changes_nothing() && (p.c.col == 1 || p.N == 1);
    if (is_plain) {
      const BulkFields fields = bulk_fields<Slices>(c, p.M, p.N, p.c.row, p.c.col);
      // Bulk stores write whole 16-byte chunks, also where the last one of a row is partly outside.
      const bool has_whole_rows = p.N * static_cast<index_t>(sizeof(Out)) % 16 == 0;
      if (has_whole_rows && why_no_map(fields).empty())
        slices = {make(fields), static_cast<int>(p.M), static_cast<int>(p.N)};
    }
    body(gA, gB, slices, C);
  });
}

/// The tiles for products of this type.
template <class In>
using WarpgroupTilesOf = std::conditional_t<sizeof(In) == 1, WarpgroupByteTiles, WarpgroupTiles>;

/// Kernel<tile> for the requested tile of the list.
template <class Tiles>
struct WarpgroupLadder;
template <int Typed, TileShape... Tiles>
struct WarpgroupLadder<TileList<Typed, Tiles...>> {
  template <class Body>
  static void with_kernel(const TileShape& tile, const Body& body) {
    (void)((tile == Tiles && (body(WarpgroupTiled<Tiles>{}), true)) || ...);
  }
};

}  // namespace tessera::detail
