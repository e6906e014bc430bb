// A thread waits for a flag that no thread sets.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::waits_for_ever {

template <bool kBroken>
struct Kernel {
  static constexpr const char* name = "broken";
  static constexpr Dim3 block{64};
  struct Shared {
    Tile<int, 1, 1> flag;
  };
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    auto& s = shared<Shared>(t);
    if (t.thread == 0) s.flag(0, 0) = 0;
    t.barrier();
    if (!kBroken && t.thread == 32) t.atomic_exchange(s.flag(0, 0), 1);
    if (t.thread == 0) {
      while (t.atomic_load(s.flag(0, 0)) == 0) {  // here
      }
    }
    C(0, t.thread) = 1;
  }
};

inline const Case kCase{"waits_for_ever",
                        __FILE__,
                        check::Kind::deadlock,
                        check::Severity::error,
                        [] { return on_output<float, Kernel<true>>(1, 64, Dim3{1}); },
                        [] { return on_output<float, Kernel<false>>(1, 64, Dim3{1}); }};

}  // namespace tessera::broken::waits_for_ever
