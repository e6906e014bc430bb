// Each lane reads what its neighbour writes only after the next warp barrier: the two are ordered,
// in the wrong order.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::read_before_written {

template <bool kBroken>
struct Kernel {
  static constexpr const char* name = "broken";
  static constexpr Dim3 block{32};
  struct Shared {
    Tile<float, 1, 32> a;
  };
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    auto& s = shared<Shared>(t);
    if constexpr (!kBroken) {
      s.a(0, t.lane) = 1;
      t.warp_barrier();
    }
    C(0, t.lane) = s.a(0, 31 - t.lane);  // here
    t.warp_barrier();
    if constexpr (kBroken) s.a(0, t.lane) = 1;
  }
};

inline const Case kCase{"read_before_written",
                        __FILE__,
                        check::Kind::uninitialized_read,
                        check::Severity::error,
                        [] { return on_output<float, Kernel<true>>(1, 32, Dim3{1}); },
                        [] { return on_output<float, Kernel<false>>(1, 32, Dim3{1}); }};

}  // namespace tessera::broken::read_before_written
