// C is added to before anything was written to it.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::output_read_first {

template <bool kBroken>
struct Kernel : Staged {
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    const int x = t.thread.x, y = t.thread.y;
    C(y, x) = kBroken ? C(y, x) + 1 : 1.0f;  // here
  }
};

inline const Case kCase{
    "output_read_first",
    __FILE__,
    check::Kind::uninitialized_read,
    check::Severity::error,
    [] { return on_output<float, Kernel<true>>(8, 8, Dim3{1}, {.fresh_outputs = true}); },
    [] { return on_output<float, Kernel<false>>(8, 8, Dim3{1}, {.fresh_outputs = true}); }};

}  // namespace tessera::broken::output_read_first
