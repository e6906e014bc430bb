// A loop with a barrier runs more often for some threads: they meet others at another barrier. A
// loop that runs alike for all is legal.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::barrier_in_loop_tail {

template <bool kBroken>
struct Kernel : Staged {
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    const int x = t.thread.x, y = t.thread.y;
    const int rounds = kBroken ? 2 + y % 2 : 3;
    for (int i = 0; i < rounds; ++i) t.barrier();  // here
    t.barrier();                                   // other
    C(y, x) = 1;
  }
};

inline const Case kCase{"barrier_in_loop_tail",
                        __FILE__,
                        check::Kind::diverged_barrier,
                        check::Severity::error,
                        [] { return on_output<float, Kernel<true>>(8, 8, Dim3{1}); },
                        [] { return on_output<float, Kernel<false>>(8, 8, Dim3{1}); }};

}  // namespace tessera::broken::barrier_in_loop_tail
