// The operands of a problem as `thin` takes them (kernels/thin_tiled.hpp), whatever engine runs it.
// Private to src/matmul.
#pragma once

#include <algorithm>

#include "bulk_maps.hpp"
#include "ladder/tiles.hpp"
#include "operands.hpp"
#include "parts_of_k.hpp"
#include "tessera/kernels/thin_tiled.hpp"
#include "tessera/ops/bulk_matrix.hpp"
#include "waves.hpp"

namespace tessera::detail {

/// Is B the large operand? Then C is computed as its transpose.
inline bool is_b_large(const Problem& p) { return p.N >= p.M; }

/// body(L, S, C): `make` makes the maps, software_map or cuda::tensor_map.
template <class Kernel, class In, class Out, class Make, class Body>
void with_thin_operands(const Problem& p, const void* a, const void* b, void* c, const void* bias,
                        const Make& make, const Body& body) {
  using Large = typename Kernel::template TileL<In>;
  using Small = typename Kernel::template TileS<In>;
  with_operands<In, Out>(p, a, b, c, bias, [&](const auto& A, const auto&, const auto& C) {
    const index_t K = valid<1>(A);
    const auto map = map_if_read(p, make);
    if (is_b_large(p)) {
      auto out = C;
      out.c = tensor<kAnyMatrix>(static_cast<Out*>(c), p.N, p.M, p.c.col, p.c.row);
      std::swap(out.bias_row, out.bias_col);
      body(bulk_operand<Large>(map, b, p.N, K, p.b.col, p.b.row),
           bulk_operand<Small>(map, a, p.M, K, p.a.row, p.a.col), out);
    } else {
      body(bulk_operand<Large>(map, a, p.M, K, p.a.row, p.a.col),
           bulk_operand<Small>(map, b, p.N, K, p.b.col, p.b.row), C);
    }
  });
}

/// ThinTiled<tile> for the requested tile of the list; of a large operand that is not
/// K-major, all rows of an instruction.
template <class Tiles>
struct ThinLadder;
template <int Typed, TileShape... Tiles>
struct ThinLadder<TileList<Typed, Tiles...>> {
  template <class Body>
  static void with_kernel(const Problem& p, TileShape tile, const Body& body) {
    const bool is_k_major = is_b_large(p) ? p.b.row == 1 || p.K <= 1 : p.a.col == 1 || p.K <= 1;
    if (!is_k_major) tile.bm = 64;
    (void)((tile == Tiles && (body(ThinTiled<Tiles>{}), true)) || ...);
  }
};

/// The product by one of them; with its K in parts where `sums` has bytes_of_parts().
/// launch(grid, kernel, arguments...) on any engine.
template <class In, class Out, class Make, class Launch>
void run_thin_by(const GroupedProduct& product, const TileShape& tile, int parts, void* sums,
                 const Make& make, const Launch& launch) {
  const Problem& p = product.problem;
  const index_t large = std::max(p.M, p.N), small = std::min(p.M, p.N);
  ThinLadder<ThinTiles>::with_kernel(p, tile, [&]<class Kernel>(Kernel kernel) {
    const index_t along = part_of_k(p, parts);
    const int used = sums == nullptr ? 1 : static_cast<int>(ceil_div(p.K, along));
    const auto start = [&](const auto& L, const auto& S, const auto& C) {
      launch(Kernel::grid(large, small, used), kernel, L, S, C);
    };
    if (sums == nullptr)
      return with_thin_operands<Kernel, In, Out>(p, product.A, product.B, product.C, product.bias,
                                                 make, start);
    using Sum = Accumulator<Out>;
    kernel.k_tiles_of_part = static_cast<int>(along) / Kernel::template depth<In>;
    const GroupedProduct to = sums_of<Sum>(product, sums);
    with_thin_operands<Kernel, In, Sum>(to.problem, to.A, to.B, to.C, nullptr, make, start);
    sum_parts<In, Out>(product, used, sums, launch);
  });
}

}  // namespace tessera::detail
