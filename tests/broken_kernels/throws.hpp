// A kernel that throws.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::throws {

template <bool kBroken>
struct Kernel : Staged {
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    if (kBroken && t.thread == 13) throw Error(Category::argument, "nothing to multiply");
    C(t.thread.y, t.thread.x) = 1;
  }
};

inline const Case kCase{"throws",
                        __FILE__,
                        check::Kind::exception,
                        check::Severity::error,
                        [] { return on_output<float, Kernel<true>>(8, 8, Dim3{1}); },
                        [] { return on_output<float, Kernel<false>>(8, 8, Dim3{1}); }};

}  // namespace tessera::broken::throws
