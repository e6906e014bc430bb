// One thread assigns a whole tile, which is right, but no barrier follows.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::tile_assigned_too_early {

template <bool kBroken>
struct Kernel : Staged {
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    auto& s = shared<Shared>(t);
    s.a(t.thread.y, t.thread.x) = 1;
    t.barrier();
    if (t.thread == 0) s.b = s.a;
    if constexpr (!kBroken) t.barrier();
    C(t.thread.y, t.thread.x) = s.b(t.thread.x, t.thread.y);  // other
  }
};

inline const Case kCase{"tile_assigned_too_early",
                        __FILE__,
                        check::Kind::race,
                        check::Severity::error,
                        [] { return on_output<float, Kernel<true>>(8, 8, Dim3{1}); },
                        [] { return on_output<float, Kernel<false>>(8, 8, Dim3{1}); }};

}  // namespace tessera::broken::tile_assigned_too_early
