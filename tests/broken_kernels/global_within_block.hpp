// A thread reads from global memory what another thread of its block wrote, without a barrier.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::global_within_block {

template <bool kBroken>
struct Kernel : Staged {
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    const int i = t.thread;
    C(0, i) = 1;  // here
    if constexpr (!kBroken) t.barrier();
    C(1, i) = C(0, 63 - i);  // other
  }
};

inline const Case kCase{"global_within_block",
                        __FILE__,
                        check::Kind::race,
                        check::Severity::error,
                        [] { return on_output<float, Kernel<true>>(2, 64, Dim3{1}); },
                        [] { return on_output<float, Kernel<false>>(2, 64, Dim3{1}); }};

}  // namespace tessera::broken::global_within_block
