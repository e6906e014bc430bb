// A raw pointer into an output bypasses the recorded accesses.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::raw_pointer_to_output {

template <bool kBroken>
struct Kernel : Staged {
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    if constexpr (kBroken) C.data()[t.thread] = 1;
    else C(t.thread.y, t.thread.x) = 1;
  }
};

inline const Case kCase{"raw_pointer_to_output",
                        __FILE__,
                        check::Kind::unseen_write,
                        check::Severity::warning,
                        [] { return on_output<float, Kernel<true>>(8, 8, Dim3{1}); },
                        [] { return on_output<float, Kernel<false>>(8, 8, Dim3{1}); }};

}  // namespace tessera::broken::raw_pointer_to_output
