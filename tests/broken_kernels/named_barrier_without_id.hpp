// A block has 16 named barriers, 0 to 15.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::named_barrier_without_id {

template <bool kBroken>
struct Kernel {
  static constexpr const char* name = "broken";
  static constexpr Dim3 block{96};
  struct Shared {
    Tile<float, 1, 64> a;
  };
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    auto& s = shared<Shared>(t);
    if (t.warp < 2) {
      s.a(0, t.thread) = 1;
      t.barrier(kBroken ? 16 : 15, 64);  // here
    }
    C(0, t.thread) = t.warp == 0 ? s.a(0, 31 - t.lane) : t.warp == 1 ? s.a(0, 63 - t.lane) : 1.0f;
  }
};

inline const Case kCase{"named_barrier_without_id",
                        __FILE__,
                        check::Kind::barrier_misuse,
                        check::Severity::error,
                        [] { return on_output<float, Kernel<true>>(1, 96, Dim3{1}); },
                        [] { return on_output<float, Kernel<false>>(1, 96, Dim3{1}); }};

}  // namespace tessera::broken::named_barrier_without_id
