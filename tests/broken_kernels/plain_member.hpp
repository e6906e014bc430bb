// A plain member of Shared: its accesses are not recorded, so races on it stay unknown.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::plain_member {

template <bool kBroken>
struct Kernel {
  static constexpr const char* name = "broken";
  static constexpr Dim3 block{64};
  struct Shared {
    std::conditional_t<kBroken, int[1], Tile<int, 1>> count;
    Tile<int, 64> a;
  };
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    auto& s = shared<Shared>(t);
    s.a(t.thread) = t.thread;
    if constexpr (kBroken) {
      if (t.thread == 0) s.count[0] = -1;
      t.barrier();
      C(0, t.thread) = s.a(63 - t.thread) + s.count[0];
    } else {
      if (t.thread == 0) s.count(0) = -1;
      t.barrier();
      C(0, t.thread) = s.a(63 - t.thread) + s.count(0);
    }
  }
};

inline const Case kCase{"plain_member",
                        __FILE__,
                        check::Kind::unseen_write,
                        check::Severity::warning,
                        [] { return on_output<int, Kernel<true>>(1, 64, Dim3{1}); },
                        [] { return on_output<int, Kernel<false>>(1, 64, Dim3{1}); }};

}  // namespace tessera::broken::plain_member
