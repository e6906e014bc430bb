// A warp reduction in a block smaller than a warp reads from lanes that do not exist.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::shuffle_from_nowhere {

template <bool kBroken>
struct Kernel {
  static constexpr const char* name = "broken";
  static constexpr Dim3 block{kBroken ? 24 : 32};
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    float sum = 1;
    for (int delta = 16; delta > 0; delta /= 2) sum += t.shuffle_down(sum, delta);  // here
    if (t.lane == 0) C(0, 0) = sum;
  }
};

inline const Case kCase{"shuffle_from_nowhere",
                        __FILE__,
                        check::Kind::out_of_bounds,
                        check::Severity::error,
                        [] { return on_output<float, Kernel<true>>(1, 1, Dim3{1}); },
                        [] { return on_output<float, Kernel<false>>(1, 1, Dim3{1}); }};

}  // namespace tessera::broken::shuffle_from_nowhere
