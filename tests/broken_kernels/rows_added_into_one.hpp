// All blocks of a column add into one row of C: blocks are never ordered.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::rows_added_into_one {

template <bool kBroken>
struct Kernel : Staged {
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    const index_t row = kBroken ? t.thread.y : t.block.y * T + t.thread.y;
    C(row, t.thread.x) += 1;  // here
  }
};

inline const Case kCase{"rows_added_into_one",
                        __FILE__,
                        check::Kind::race,
                        check::Severity::error,
                        [] {
                          return on_output<float, Kernel<true>>(24, 8, Dim3{1, 3});
                        },
                        [] {
                          return on_output<float, Kernel<false>>(24, 8, Dim3{1, 3});
                        }};

}  // namespace tessera::broken::rows_added_into_one
