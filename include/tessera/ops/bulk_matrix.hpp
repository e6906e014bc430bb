// BulkMatrix and its map from a matrix in memory, on the host: the box follows from the tile,
// everything else from the matrix. See ops/bulk.hpp.
#pragma once

#include <type_traits>

#include "tessera/ops/bulk.hpp"

namespace tessera {

namespace detail {

template <class T>
constexpr BulkType bulk_type() {
  if constexpr (std::is_same_v<T, f16>) return BulkType::f16;
  else if constexpr (std::is_same_v<T, bf16>) return BulkType::bf16;
  else if constexpr (std::is_same_v<T, float>) return BulkType::f32;
  else if constexpr (sizeof(T) == 4) return BulkType::i32;
  else return BulkType::bytes_1;
}

}  // namespace detail

/// Whether f32 is rounded to TF32 for matrix units, or copied unchanged.
enum class Rounding : std::uint8_t { none, tf32 };

/// The map for copies between UnitTiles like Tile and a matrix (rows,cols) of any strides, where
/// the stride along the tile's contiguous mode is 1 or irrelevant; other matrices have no map.
template <class Tile>
BulkFields bulk_fields(const void* data, index_t rows, index_t cols, index_t row_stride,
                       index_t col_stride, Rounding rounding = Rounding::none) {
  using T = typename Tile::element;
  using Box = BulkBox<Tile>;
  constexpr index_t size = sizeof(T);
  const bool k = Box::is_k_major;
  const index_t inner = k ? cols : rows, outer = k ? rows : cols;
  index_t stride = (k ? row_stride : col_stride) * size;
  if (outer == 1) stride = (inner * size + 15) / 16 * 16;  // irrelevant: any legal value
  BulkFields f{.data = data,
               .type = rounding == Rounding::tf32 ? BulkType::tf32 : detail::bulk_type<T>(),
               .element_bytes = size,
               .extent = {inner, outer},
               .stride_bytes = stride,
               .box = {k ? Box::cols : Box::rows, k ? Box::rows : Box::cols},
               .swizzle = Tile::mode,
               .inner_stride = inner == 1 ? 1 : (k ? col_stride : row_stride)};
  return f;
}

/// How an OperandTile of a matrix is filled: K-major where k is contiguous, MN-major where mn is.
template <class Tile>
constexpr Major major_for(index_t rows, index_t cols, index_t row_stride, index_t col_stride) {
  // A single column with contiguous rows becomes one row of a map.
  const bool k = cols <= 1 ? row_stride != 1 : col_stride == 1;
  return !k && (row_stride == 1 || rows <= 1) && Tile::is_either ? Major::mn : Major::k;
}

/// Why bulk copies cannot read the matrix as an operand; empty where they can, or need not.
template <class Tile>
std::string why_no_operand(const void* data, index_t rows, index_t cols, index_t row_stride,
                           index_t col_stride) {
  if (rows == 0 || cols == 0) return {};  // nothing is copied from it
  const bool k = col_stride == 1 || cols <= 1, mn = row_stride == 1 || rows <= 1;
  if (!k && !(mn && Tile::is_either)) {
    if (Tile::is_either) return "neither of its modes is contiguous";
    return sizeof(typename Tile::element) == 2
               ? "K is not contiguous in it, and the kernel reads this operand only along K"
               : "K is not contiguous in it, and matrix units read only 16-bit elements along the "
                 "other mode";
  }
  return why_no_map(
      major_for<Tile>(rows, cols, row_stride, col_stride) == Major::mn
          ? bulk_fields<typename Tile::MnMajor>(data, rows, cols, row_stride, col_stride)
          : bulk_fields<typename Tile::KMajor>(data, rows, cols, row_stride, col_stride));
}

/// An operand (mn,k) of a kernel; `make` is software_map or cuda::tensor_map. An empty operand has
/// no map, since nothing is copied from it.
template <class Tile, class Make>
BulkMatrix<Tile> bulk_operand(const Make& make, const void* data, index_t rows, index_t cols,
                              index_t row_stride, index_t col_stride) {
  const Major major = major_for<Tile>(rows, cols, row_stride, col_stride);
  BulkMatrix<Tile> out{{}, static_cast<int>(rows), static_cast<int>(cols), major};
  if (rows == 0 || cols == 0) return out;
  const Rounding rounding =
      std::is_same_v<typename Tile::element, float> ? Rounding::tf32 : Rounding::none;
  out.map = make(
      major == Major::mn
          ? bulk_fields<typename Tile::MnMajor>(data, rows, cols, row_stride, col_stride, rounding)
          : bulk_fields<typename Tile::KMajor>(data, rows, cols, row_stride, col_stride, rounding));
  return out;
}

}  // namespace tessera
