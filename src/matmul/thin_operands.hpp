// The operands of a problem as `thin` takes them (kernels/thin_tiled.hpp), whatever engine runs it.
// Private to src/matmul.
#pragma once

#include "bulk_maps.hpp"
#include "ladder_tiles.hpp"
#include "operands.hpp"
#include "tessera/kernels/thin_tiled.hpp"
#include "tessera/ops/bulk_matrix.hpp"

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

}  // namespace tessera::detail
