// Threads of one block wait at two different barriers.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::two_barriers {

template <bool kBroken>
struct Kernel : Staged {
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    const int x = t.thread.x, y = t.thread.y;
    if (kBroken && y < 4) t.barrier();  // other
    else t.barrier();                   // here
    C(y, x) = 1;
  }
};

inline const Case kCase{"two_barriers",
                        __FILE__,
                        check::Kind::diverged_barrier,
                        check::Severity::error,
                        [] { return on_output<float, Kernel<true>>(8, 8, Dim3{1}); },
                        [] { return on_output<float, Kernel<false>>(8, 8, Dim3{1}); }};

}  // namespace tessera::broken::two_barriers
