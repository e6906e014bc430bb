// Lanes of one warp shuffle at two places.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::warp_diverged {

template <bool kBroken>
struct Kernel : Staged {
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    float value = 1;
    if (kBroken && t.lane < 16) value = t.shuffle(value, 0);  // other
    else value = t.shuffle(value, 0);                         // here
    C(t.thread.y, t.thread.x) = value;
  }
};

inline const Case kCase{"warp_diverged",
                        __FILE__,
                        check::Kind::diverged_barrier,
                        check::Severity::error,
                        [] { return on_output<float, Kernel<true>>(8, 8, Dim3{1}); },
                        [] { return on_output<float, Kernel<false>>(8, 8, Dim3{1}); }};

}  // namespace tessera::broken::warp_diverged
