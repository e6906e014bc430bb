// Arrays of files as the matrices of a product.
#pragma once

#include "tessera/io/array.hpp"
#include "tessera/matmul/matrix.hpp"

namespace tessera::product {

inline ConstMatrix const_matrix_of(const Array& array) {
  return {array.data(), array.dtype(),      array.rows(),
          array.cols(), array.row_stride(), array.col_stride()};
}

inline Matrix matrix_of(const Array& array) {
  return {array.writable(), array.dtype(),      array.rows(),
          array.cols(),     array.row_stride(), array.col_stride()};
}

/// Rows [first, first + count) of a matrix.
template <class Void>
MatrixView<Void> rows_of(MatrixView<Void> m, index_t first, index_t count) {
  using Byte = std::conditional_t<std::is_const_v<Void>, const std::byte, std::byte>;
  m.data = static_cast<Byte*>(m.data) + first * m.row_stride * size_of(m.dtype);
  m.rows = count;
  return m;
}

/// The type of a product of two files. If both have the same type of f64, f32, f16, bf16 and i32,
/// it is that type; else the first of i32, f16, bf16, f32, f64 that holds every value of both
/// exactly; f64 for 64-bit integers, which it holds up to 2^53.
DType product_type(DType a, DType b);

/// Throws Error(type) unless there are products of this type: f64, f32, f16, bf16, i32.
void require_product(DType type);

/// 64-bit integers and u32: types that only f64 can represent, 64-bit integers not in full.
bool is_wide_integer(DType type);

}  // namespace tessera::product
