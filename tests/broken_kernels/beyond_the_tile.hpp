// The padding of a tile is used as a column.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::beyond_the_tile {

template <bool kBroken>
struct Kernel : Staged {
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    auto& s = shared<Shared>(t);
    const int x = t.thread.x, y = t.thread.y;
    s.a(y, x + (kBroken && y == 0 ? 1 : 0)) = 1;  // here
    t.barrier();
    C(y, x) = 1;
  }
};

inline const Case kCase{"beyond_the_tile",
                        __FILE__,
                        check::Kind::outside_view,
                        check::Severity::error,
                        [] { return on_output<float, Kernel<true>>(8, 8, Dim3{1}); },
                        [] { return on_output<float, Kernel<false>>(8, 8, Dim3{1}); }};

}  // namespace tessera::broken::beyond_the_tile
