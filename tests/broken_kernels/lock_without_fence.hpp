// Threads add to a sum under a lock. Without fences the lock orders no memory.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::lock_without_fence {

template <bool kBroken>
struct Kernel {
  static constexpr const char* name = "broken";
  static constexpr Dim3 block{64};
  struct Shared {
    Tile<int, 1, 1> lock;
    Tile<float, 1, 1> sum;
  };
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    auto& s = shared<Shared>(t);
    if (t.thread == 0) s.lock(0, 0) = 0, s.sum(0, 0) = 0;
    t.barrier();
    if (t.lane == 7) {
      while (t.atomic_compare_exchange(s.lock(0, 0), 0, 1) != 0) {
      }
      if constexpr (!kBroken) t.fence();
      const float old = s.sum(0, 0);
      s.sum(0, 0) = old + 1;  // here
      if constexpr (!kBroken) t.fence();
      t.atomic_exchange(s.lock(0, 0), 0);
    }
    t.barrier();
    if (t.thread == 0) C(0, 0) = s.sum(0, 0);
  }
};

inline const Case kCase{"lock_without_fence",
                        __FILE__,
                        check::Kind::race,
                        check::Severity::error,
                        [] { return on_output<float, Kernel<true>>(1, 1, Dim3{1}); },
                        [] { return on_output<float, Kernel<false>>(1, 1, Dim3{1}); }};

}  // namespace tessera::broken::lock_without_fence
