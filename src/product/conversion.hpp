// Converts inputs to the product's type if nothing but rounding is lost. Otherwise the error says
// how many elements would be lost, names the first one and says what to do.
#pragma once

#include <string>

#include "tessera/io/array.hpp"

namespace tessera::product {

/// What a conversion does to the elements.
struct Conversion {
  index_t rounded = 0;  ///< replaced by the nearest value: floating point to nearest even
  index_t lost = 0;     ///< a fraction for an integer, a value beyond the type, NaN for an integer
  index_t row = -1, col = -1;  ///< the first lost element, in row order
  double value = 0;            ///< its value
  std::string_view reason;     ///< the reason why it does not fit
};

/// What convert(matrix, to) would do to the elements. Reads each once, on all cores.
Conversion examine_conversion(const Array& matrix, DType to);

/// Throws Error(type), "A (a.npy): 2 of 6 elements do not fit into i32, ...", if an element would
/// be lost. `count`: of all elements. `natural` is the type that needs no such conversion.
void require_lossless(const Conversion& found, index_t count, DType to, DType natural,
                      const std::string& what);

}  // namespace tessera::product
