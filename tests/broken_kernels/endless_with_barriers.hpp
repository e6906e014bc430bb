// Threads that wait for each other forever.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::endless_with_barriers {

template <bool kBroken>
struct Kernel : Staged {
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    for (int i = 0; kBroken || i < 3; ++i) t.barrier();
    C(t.thread.y, t.thread.x) = 1;
  }
};

inline const Case kCase{
    "endless_with_barriers",
    __FILE__,
    check::Kind::endless,
    check::Severity::error,
    [] { return on_output<float, Kernel<true>>(8, 8, Dim3{1}, {.time_limit_s = 0.2}); },
    [] { return on_output<float, Kernel<false>>(8, 8, Dim3{1}, {.time_limit_s = 0.2}); }};

}  // namespace tessera::broken::endless_with_barriers
