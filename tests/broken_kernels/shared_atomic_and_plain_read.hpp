// A shared atomic counter is read without a barrier: racecheck sees no hazard here.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::shared_atomic_and_plain_read {

template <bool kBroken>
struct Kernel : Staged {
  struct Shared {
    Tile<int, 1, 4> count;
  };
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    auto& s = shared<Shared>(t);
    if (t.thread == 0) s.count(0, 0) = 0;
    t.barrier();
    t.atomic_add(s.count(0, 0), 1);  // here
    if constexpr (!kBroken) t.barrier();
    C(t.thread.y, t.thread.x) = s.count(0, 0);  // other
  }
};

inline const Case kCase{"shared_atomic_and_plain_read",
                        __FILE__,
                        check::Kind::race,
                        check::Severity::error,
                        [] { return on_output<int, Kernel<true>>(8, 8, Dim3{1}); },
                        [] { return on_output<int, Kernel<false>>(8, 8, Dim3{1}); }};

}  // namespace tessera::broken::shared_atomic_and_plain_read
