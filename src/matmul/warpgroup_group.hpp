// Several products in one launch of `warpgroup`: a batch, a group, or the parts of a split K, for
// any engine. Private to src/matmul.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "grouped_product.hpp"
#include "parts_of_k.hpp"
#include "warpgroup_operands.hpp"
#include "waves.hpp"

namespace tessera::detail {

template <class In>
using GroupTilesOf = std::conditional_t<sizeof(In) == 1, GroupByteTiles, GroupTiles>;

/// Kernel<tile> for groups of elements of In, for the requested tile of its list.
template <class In, class Tiles = GroupTilesOf<In>>
struct GroupLadder;
template <class In, int Typed, TileShape... Tiles>
struct GroupLadder<In, TileList<Typed, Tiles...>> {
  template <class Body>
  static void with_kernel(const TileShape& tile, const Body& body) {
    (void)((tile == Tiles &&
            (body(WarpgroupTiled<Tiles, cluster_of(Tiles), 0, Products::group, kAddsOf<In>>{}),
             true)) ||
           ...);
  }
};
static_assert(kMostTogether == kMostInGroup);

/// launch(grid, kernel, group) for all products, as many in each launch as a group holds.
template <class In, class Out, class Make, class Launch>
void run_group(std::span<const GroupedProduct> products, const TileShape& tile, int multiprocessors,
               const Make& make, const Launch& launch) {
  GroupLadder<In>::with_kernel(tile, [&]<class Kernel>(const Kernel& kernel) {
    ProductGroup<MemberOf<Kernel, In, Out>> group;
    index_t clusters = 0;
    const auto flush = [&] {
      if (group.count > 0) launch(Kernel::grid_for(clusters, multiprocessors), kernel, group);
      group.count = 0, clusters = 0;
    };
    for (const GroupedProduct& each : products) {
      const Problem& p = each.problem;
      if (p.M == 0 || p.N == 0) continue;
      if (group.count == kMostInGroup) flush();
      group.of[group.count++] =
          member_of<Kernel, In, Out>(p, each.A, each.B, each.C, each.bias, make);
      clusters += Kernel::clusters_of(p.M, p.N);
    }
    flush();
  });
}

/// A product with its K in parts, each a product of a group, whose sums are then added.
/// run(products) runs a group of In into Sum, launch(grid, kernel, arguments...) a kernel.
template <class In, class Out, class Run, class Launch>
void run_in_parts(const GroupedProduct& product, int parts, void* sums, const Run& run,
                  const Launch& launch) {
  using Sum = Accumulator<Out>;
  const Problem& p = product.problem;
  const index_t along = part_of_k(p, parts), bytes = size_of(p.in);
  std::vector<GroupedProduct> all;
  for (index_t k = 0; k < p.K; k += along) {
    GroupedProduct part =
        sums_of<Sum>(product, static_cast<Sum*>(sums) + std::ssize(all) * p.M * p.N);
    part.problem.K = std::min(along, p.K - k);
    part.A = static_cast<const char*>(product.A) + k * p.a.col * bytes;
    part.B = static_cast<const char*>(product.B) + k * p.b.row * bytes;
    all.push_back(part);
  }
  run(std::span<const GroupedProduct>(all));
  sum_parts<In, Out>(product, static_cast<int>(all.size()), sums, launch);
}

}  // namespace tessera::detail
