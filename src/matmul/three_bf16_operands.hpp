// A product of f32 by three bf16 for any engine: both operands as planes, then their product. Also
// with planes of B that were made before. Private to src/matmul.
#pragma once

#include "grouped_product.hpp"
#include "tessera/kernels/three_bf16.hpp"
#include "warpgroup_operands.hpp"
#include "waves.hpp"

namespace tessera::detail {

/// The memory of the planes: (M,3 depth) and (N,3 depth).
struct Planes {
  void* A;
  void* B;
  bool has_b = false;  ///< B's are made already
};

/// Kernel<tile> for the requested tile of the list.
template <class Tiles>
struct ThreeBf16Ladder;
template <int Typed, TileShape... Tiles>
struct ThreeBf16Ladder<TileList<Typed, Tiles...>> {
  template <class Body>
  static void with_kernel(const TileShape& tile, const Body& body) {
    (void)((tile == Tiles && (body(ThreeBf16Tiled<Tiles>{}), true)) || ...);
  }
};

/// launch(grid, kernel, arguments...): an operand (rows,K) into planes of bf16.
template <class Launch>
void make_planes(const float* from, index_t rows, index_t K, const Strides& strides, void* planes,
                 const Launch& launch) {
  using Kernel = PackOperand<3>;
  const index_t depth = packed_depth<bf16>(K);
  launch(Kernel::grid(rows, depth), Kernel{},
         tensor<kAnyMatrix>(from, rows, K, strides.row, strides.col),
         tensor<row_major(dynamic)>(static_cast<bf16*>(planes), rows * 3 * depth), depth);
}

/// The product of finished planes.
template <class Make, class Launch>
void multiply_planes(const GroupedProduct& product, const TileShape& tile, const Planes& planes,
                     int multiprocessors, const Make& make, const Launch& launch) {
  const Problem& p = product.problem;
  const index_t along = 3 * plane_depth(p);
  ThreeBf16Ladder<ThreeBf16Tiles>::with_kernel(tile, [&]<class Kernel>(const Kernel& kernel) {
    with_operands<float, float>(p, product.A, product.B, product.C, product.bias,
                                [&](const auto&, const auto&, const auto& C) {
                                  launch(Kernel::grid(p.M, p.N, multiprocessors), kernel,
                                         bulk_operand<typename Kernel::template LoadA<bf16>>(
                                             make, planes.A, p.M, along, along, 1),
                                         bulk_operand<typename Kernel::template LoadB<bf16>>(
                                             make, planes.B, p.N, along, along, 1),
                                         slices_of<float>(p, C, make), C);
                                });
  });
}

template <class Make, class Launch>
void run_three_bf16_by(const GroupedProduct& product, const TileShape& tile, const Planes& planes,
                       int multiprocessors, const Make& make, const Launch& launch) {
  const Problem& p = product.problem;
  if (plane_depth(p) > 0) {
    make_planes(static_cast<const float*>(product.A), p.M, p.K, p.a, planes.A, launch);
    if (!planes.has_b)
      make_planes(static_cast<const float*>(product.B), p.N, p.K, {p.b.col, p.b.row}, planes.B,
                  launch);
  }
  multiply_planes(product, tile, planes, multiprocessors, make, launch);
}

}  // namespace tessera::detail
