// A row-major matrix as a kernel's BulkMatrix: on the CPU at once, on a GPU when its numbers are
// there (on_device.cuh). Used by puzzle/run.hpp.
#pragma once

#include "tessera/ops/bulk_matrix.hpp"

namespace tessera::puzzle::detail {

template <class Tile, class View>
struct BulkView {
  View view;
  Rounding rounding;

  /// The matrix, of which a copy is at `there`; `make` is software_map or cuda::tensor_map.
  template <class Make>
  BulkMatrix<Tile> mapped(const Make& make, const View& there) const {
    const index_t rows = extent<0>(there), cols = extent<1>(there);
    return {make(bulk_fields<Tile>(there.data(), rows, cols, cols, 1, rounding)),
            static_cast<int>(rows), static_cast<int>(cols)};
  }
};

template <class Tile, class View>
auto bulk_view(const View& view, Rounding rounding) {
  const BulkView<Tile, View> out{view, rounding};
#if defined(__CUDACC__)
  return out;
#else
  return out.mapped(software_map, view);
#endif
}

}  // namespace tessera::puzzle::detail
