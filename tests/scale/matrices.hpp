// Matrices of random elements for products on many ranks.
#pragma once

#include "tessera/core/random.hpp"
#include "tessera/io/array.hpp"
#include "tessera/matmul/matrix.hpp"

namespace tessera::scale {

inline Array random_matrix(DType type, index_t rows, index_t cols, std::uint64_t seed,
                           Order order = Order::c) {
  const Array out = make_array(type, {rows, cols}, order);
  visit_dtype(type, [&]<class T>(TypeTag<T>) {
    auto* const data = static_cast<T*>(out.writable());
    for (index_t n = 0; n < out.count(); ++n) {
      const double value = 2 * random_unit(seed, static_cast<std::uint64_t>(n)) - 1;
      if constexpr (std::is_integral_v<T>) data[n] = static_cast<T>(value * 100);
      else data[n] = tessera::convert<T>(static_cast<float>(value));
    }
  });
  return out;
}

inline ConstMatrix const_matrix_of(const Array& m) {
  return {m.data(), m.dtype(), m.rows(), m.cols(), m.row_stride(), m.col_stride()};
}
inline Matrix matrix_of(const Array& m) {
  return {m.writable(), m.dtype(), m.rows(), m.cols(), m.row_stride(), m.col_stride()};
}

}  // namespace tessera::scale
