// The operands of a problem as `bulk_tiled` takes them (kernels/bulk_tiled.hpp), for any engine:
// with maps for bulk copies. Private to src/matmul.
#pragma once

#include "bulk_maps.hpp"
#include "ladder/tiles.hpp"
#include "operands.hpp"
#include "tessera/kernels/bulk_tiled.hpp"
#include "tessera/ops/bulk_matrix.hpp"

namespace tessera::detail {

/// An operand (mn,k) in memory.
struct BulkOperand {
  const void* data;
  index_t rows, cols, row_stride, col_stride;

  bool is_along_mn() const { return row_stride == 1 || rows <= 1; }
  bool is_along_k() const { return col_stride == 1 || cols <= 1; }
  template <class Tile>
  BulkFields fields() const {
    return bulk_fields<Tile>(data, rows, cols, row_stride, col_stride);
  }
};
inline BulkOperand operand_a(const Problem& p, const void* a) {
  return {a, p.M, p.K, p.a.row, p.a.col};
}
inline BulkOperand operand_b(const Problem& p, const void* b) {
  return {b, p.N, p.K, p.b.col, p.b.row};
}

/// body(kernel, A, B, C) with BulkTiled<S> for the operands; `make` makes the maps, software_map or
/// cuda::tensor_map, which they have: why_no_bulk_tiles().
template <TileShape S, class Make, class Body>
void with_bulk_tiles(const Problem& p, const void* a, const void* b, void* c, const void* bias,
                     const Make& make, const Body& body) {
  const auto of = [&]<Major A, Major B>(const BulkTiled<S, A, B>& kernel) {
    using Kernel = BulkTiled<S, A, B>;
    const BulkOperand from_a = operand_a(p, a), from_b = operand_b(p, b);
    BulkMatrix<typename Kernel::template TileA<float>> gA;  // (M,K)
    BulkMatrix<typename Kernel::template TileB<float>> gB;  // (N,K)
    gA.rows = static_cast<int>(p.M), gB.rows = static_cast<int>(p.N);
    if (p.alpha != 0) gA.cols = gB.cols = static_cast<int>(p.K);
    if (reads_operands(p)) {
      gA.map = make(from_a.fields<typename Kernel::template TileA<float>>());
      gB.map = make(from_b.fields<typename Kernel::template TileB<float>>());
    }
    with_operands<float, float>(p, a, b, c, bias, [&](const auto&, const auto&, const auto& C) {
      body(kernel, gA, gB, C);
    });
  };
  const bool a_along_k = !operand_a(p, a).is_along_mn(), b_along_k = !operand_b(p, b).is_along_mn();
  if (a_along_k) {
    if (b_along_k) of(BulkTiled<S, Major::k, Major::k>{});
    else of(BulkTiled<S, Major::k, Major::mn>{});
  } else if (b_along_k) {
    of(BulkTiled<S, Major::mn, Major::k>{});
  } else {
    of(BulkTiled<S, Major::mn, Major::mn>{});
  }
}

}  // namespace tessera::detail
