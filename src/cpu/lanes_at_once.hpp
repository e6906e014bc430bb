// Small products in the order `lanes`, without a Gemm object: as gemm_if_tiny(), for callers for
// which nanoseconds matter.
#pragma once

#include "tessera/core/config.hpp"

namespace tessera::cpu {

/// C = A B of float or double for which takes_lanes() holds; the rows of C are contiguous. False,
/// and nothing done, where threads might share the work.
template <class T>
bool lanes_at_once(index_t M, index_t N, index_t K, const T* A, index_t a_row, const T* B,
                   index_t b_col, T* C, index_t c_row);

}  // namespace tessera::cpu
