// Inputs in the product's type, with nothing lost on the way but rounding. What would lose more is
// refused with how many elements, the first of them and what to do instead.
#pragma once

#include <string>

#include "tessera/io/array.hpp"

namespace tessera::cli {

/// How elements fare in another type.
struct Conversion {
  index_t rounded = 0;  ///< a neighbour takes their place: floating point to nearest even
  index_t lost = 0;     ///< a fraction for an integer, a value beyond the type, NaN for an integer
  index_t row = -1, col = -1;  ///< the first lost one, row by row
  double value = 0;            ///< and what it was
  std::string_view reason;     ///< and why it does not fit
};

/// What convert(matrix, to) would do to the elements. Reads each once, on all cores.
Conversion examine_conversion(const Array& matrix, DType to);

/// "A (a.npy): 2 of 6 elements do not fit into i32, ..." as Error(type) where any element would be
/// lost. `natural` is the type that needs no such conversion.
void require_lossless(const Conversion& found, const Array& matrix, DType to, DType natural,
                      const std::string& what);

}  // namespace tessera::cli
