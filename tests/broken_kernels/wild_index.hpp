// An index that has nothing to do with the tensor.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::wild_index {

template <bool kBroken>
struct Kernel {
  static constexpr const char* name = "broken";
  static constexpr Dim3 block{8};
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    C(kBroken ? 123456789 : 0, t.thread) = 1;  // here
  }
};

inline const Case kCase{"wild_index",
                        __FILE__,
                        check::Kind::out_of_bounds,
                        check::Severity::error,
                        [] { return on_output<float, Kernel<true>>(1, 8, Dim3{1}); },
                        [] { return on_output<float, Kernel<false>>(1, 8, Dim3{1}); }};

}  // namespace tessera::broken::wild_index
