// The sum is kept in global memory: every step stores it again.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::output_written_twice {

template <bool kBroken>
struct Kernel : Staged {
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    const int x = t.thread.x, y = t.thread.y;
    if constexpr (kBroken) C(y, x) = 1;
    C(y, x) = 2;
  }
};

inline const Case kCase{"output_written_twice",
                        __FILE__,
                        check::Kind::written_twice,
                        check::Severity::note,
                        [] { return on_output<float, Kernel<true>>(8, 8, Dim3{1}); },
                        [] { return on_output<float, Kernel<false>>(8, 8, Dim3{1}); }};

}  // namespace tessera::broken::output_written_twice
