// A thread writes an element and then updates it atomically; another one updates it atomically too.
// The two updates are fine: the plain write before them is not.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::plain_then_atomic {

template <bool kBroken>
struct Kernel : Staged {
  struct Shared {
    Tile<int, 1, 4> count;
  };
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    auto& s = shared<Shared>(t);
    if (t.thread == 0) s.count(0, 0) = 0;  // other
    if constexpr (!kBroken) t.barrier();
    t.atomic_add(s.count(0, 0), 1);  // here
    t.barrier();
    C(t.thread.y, t.thread.x) = s.count(0, 0);
  }
};

inline const Case kCase{"plain_then_atomic",
                        __FILE__,
                        check::Kind::race,
                        check::Severity::error,
                        [] { return on_output<int, Kernel<true>>(8, 8, Dim3{1}); },
                        [] { return on_output<int, Kernel<false>>(8, 8, Dim3{1}); }};

}  // namespace tessera::broken::plain_then_atomic
