// A thread takes a copy of a whole tile that others are still writing.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::tile_copied_too_early {

template <bool kBroken>
struct Kernel : Staged {
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    auto& s = shared<Shared>(t);
    s.a(t.thread.y, t.thread.x) = 1;  // here
    if constexpr (!kBroken) t.barrier();
    const auto mine = s.a;  // other
    C(t.thread.y, t.thread.x) = mine(t.thread.x, t.thread.y);
  }
};

inline const Case kCase{"tile_copied_too_early",
                        __FILE__,
                        check::Kind::race,
                        check::Severity::error,
                        [] { return on_output<float, Kernel<true>>(8, 8, Dim3{1}); },
                        [] { return on_output<float, Kernel<false>>(8, 8, Dim3{1}); }};

}  // namespace tessera::broken::tile_copied_too_early
