#include "tessera/layout/print.hpp"

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

}  // namespace tessera
