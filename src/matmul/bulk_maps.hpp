// Which products need maps for bulk copies of their operands. Private to src/matmul.
#pragma once

#include "tessera/matmul/problem.hpp"
#include "tessera/simt/bulk_map.hpp"

namespace tessera::detail {

/// Does the product read its operands?
inline bool reads_operands(const Problem& p) {
  return p.M > 0 && p.N > 0 && p.K > 0 && p.alpha != 0;
}

/// `make`, of a product that reads its operands: those of others may have no map.
template <class Make>
auto map_if_read(const Problem& p, const Make& make) {
  return [&make, reads = reads_operands(p)](const BulkFields& fields) {
    return reads ? make(fields) : BulkMap{};
  };
}

}  // namespace tessera::detail
