// Threads past the edge return before the barrier at which the others wait.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::early_return {

template <bool kBroken>
struct Kernel : Staged {
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    auto& s = shared<Shared>(t);
    const int x = t.thread.x, y = t.thread.y;
    if (kBroken && x >= extent<1>(C)) return;
    s.a(y, x) = 1;
    t.barrier();  // here
    if (C.contains(y, x)) C(y, x) = s.a(y, x);
  }
};

inline const Case kCase{"early_return",
                        __FILE__,
                        check::Kind::early_return,
                        check::Severity::warning,
                        [] { return on_output<float, Kernel<true>>(8, 5, Dim3{1}); },
                        [] { return on_output<float, Kernel<false>>(8, 5, Dim3{1}); }};

}  // namespace tessera::broken::early_return
