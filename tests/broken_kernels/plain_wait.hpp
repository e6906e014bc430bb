// A thread waits for a plain read to change, which CUDA need not read again.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::plain_wait {

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
    if (kBroken && t.thread == 40) s.flag(0, 0) = 1;  // here
    if (!kBroken && t.thread == 40) t.atomic_store(s.flag(0, 0), 1);
    if (kBroken && t.thread == 0) {
      while (s.flag(0, 0) == 0) {  // other
      }
    }
    if (!kBroken && t.thread == 0) {
      while (t.atomic_load(s.flag(0, 0)) == 0) {
      }
    }
    C(0, t.thread) = 1;
  }
};

inline const Case kCase{"plain_wait",
                        __FILE__,
                        check::Kind::race,
                        check::Severity::error,
                        [] { return on_output<float, Kernel<true>>(1, 64, Dim3{1}); },
                        [] { return on_output<float, Kernel<false>>(1, 64, Dim3{1}); }};

}  // namespace tessera::broken::plain_wait
