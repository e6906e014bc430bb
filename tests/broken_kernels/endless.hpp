// A loop that never ends, and that touches nothing on the way.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::endless {

template <bool kBroken>
struct Kernel : Staged {
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    volatile bool goes_on = kBroken;
    while (goes_on) {
    }
    C(t.thread.y, t.thread.x) = 1;
  }
};

inline const Case kCase{
    "endless",
    __FILE__,
    check::Kind::endless,
    check::Severity::error,
    [] { return on_output<float, Kernel<true>>(8, 8, Dim3{1}, {.time_limit_s = 0.2}); },
    [] { return on_output<float, Kernel<false>>(8, 8, Dim3{1}, {.time_limit_s = 0.2}); }};

}  // namespace tessera::broken::endless
