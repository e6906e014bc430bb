// Tuples, layouts, tilers and swizzles as text. Brackets around a single number vanish, blanks are
// never written: what expression/expression.cpp and parse.hpp read back is the same value.
#include "tessera/layout/print.hpp"

#include "tessera/core/text.hpp"

namespace tessera {

std::string to_string(const IntTuple& tuple) {
  std::string out;
  for (int k = 0; k < tuple.leaves(); ++k) {
    if (k > 0) out += ',';
    out.append(static_cast<std::size_t>(tuple.opens_at(k)), '(');
    out += tuple.leaf(k) == dynamic ? "?" : std::to_string(tuple.leaf(k));
    out.append(static_cast<std::size_t>(tuple.closes_at(k)), ')');
  }
  return out;
}

std::string to_string(const Layout& layout) {
  return to_string(layout.shape) + ':' + to_string(layout.stride);
}

std::string to_string(const Tiler& tiler) {
  std::string out = "<";
  for (int m = 0; m < tiler.rank(); ++m) {
    if (m > 0) out += ',';
    out += to_string(tiler.mode(m));
  }
  return out + '>';
}

std::string to_string(const Swizzle& swizzle) {
  return cat("swizzle(", swizzle.bits, ',', swizzle.base, ',', swizzle.shift, ')');
}

std::string to_string(const ComposedLayout& layout) {
  if (layout.swizzled && layout.offset == 0)
    return cat("composition(", layout.swizzle, ',', layout.inner, ')');
  return cat("composed(", layout.swizzled ? to_string(layout.swizzle) : to_string(layout.outer),
             ',', layout.offset, ',', layout.inner, ')');
}

}  // namespace tessera
