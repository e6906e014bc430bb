// All threads write the same value to one element: a race, whatever the values are.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::same_value {

template <bool kBroken>
struct Kernel : Staged {
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    auto& s = shared<Shared>(t);
    if (kBroken || t.thread == 0) s.a(0, 0) = 1;  // here
    t.barrier();
    C(t.thread.y, t.thread.x) = s.a(0, 0);
  }
};

inline const Case kCase{"same_value",
                        __FILE__,
                        check::Kind::race,
                        check::Severity::error,
                        [] { return on_output<float, Kernel<true>>(8, 8, Dim3{1}); },
                        [] { return on_output<float, Kernel<false>>(8, 8, Dim3{1}); }};

}  // namespace tessera::broken::same_value
