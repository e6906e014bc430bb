// A shuffle lets the lanes meet, but it orders no memory.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::shuffle_is_no_barrier {

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
    float other = t.shuffle(1.0f, 0);
    if constexpr (!kBroken) t.warp_barrier();
    C(0, t.lane) = s.a(0, 31 - t.lane) + other;  // other
  }
};

inline const Case kCase{"shuffle_is_no_barrier",
                        __FILE__,
                        check::Kind::race,
                        check::Severity::warning,
                        [] { return on_output<float, Kernel<true>>(1, 32, Dim3{1}); },
                        [] { return on_output<float, Kernel<false>>(1, 32, Dim3{1}); }};

}  // namespace tessera::broken::shuffle_is_no_barrier
