// Threads of one warp exchange values through shared memory without a warp barrier: they need not
// run in step.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::no_warp_barrier {

template <bool kBroken>
struct Kernel {
  static constexpr const char* name = "broken";
  static constexpr Dim3 block{32};
  struct Shared {
    Tile<float, 1, 32> a;
  };
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    auto& s = shared<Shared>(t);
    s.a(0, t.lane) = 1;  // here
    if constexpr (!kBroken) t.warp_barrier();
    C(0, t.lane) = s.a(0, 31 - t.lane);  // other
  }
};

inline const Case kCase{"no_warp_barrier",
                        __FILE__,
                        check::Kind::race,
                        check::Severity::warning,
                        [] { return on_output<float, Kernel<true>>(1, 32, Dim3{1}); },
                        [] { return on_output<float, Kernel<false>>(1, 32, Dim3{1}); }};

}  // namespace tessera::broken::no_warp_barrier
