// The guard leaves the last row out.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::output_not_written {

template <bool kBroken>
struct Kernel : Staged {
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    if (t.thread.y < extent<0>(C) - (kBroken ? 1 : 0)) C(t.thread.y, t.thread.x) = 1;
  }
};

inline const Case kCase{
    "output_not_written",
    __FILE__,
    check::Kind::never_written,
    check::Severity::error,
    [] { return on_output<float, Kernel<true>>(8, 8, Dim3{1}, {.fresh_outputs = true}); },
    [] { return on_output<float, Kernel<false>>(8, 8, Dim3{1}, {.fresh_outputs = true}); }};

}  // namespace tessera::broken::output_not_written
