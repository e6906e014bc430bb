// One block adds atomically to what another writes plainly. Twin: atomics on both sides.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::global_atomic_and_plain_write {

template <bool kBroken>
struct Kernel {
  static constexpr const char* name = "broken";
  static constexpr Dim3 block{1};
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    if (kBroken && t.block.x == 1) C(0, 0) = 1;  // here
    else t.atomic_add(C(0, 0), 1.0f);            // other
  }
};

inline const Case kCase{"global_atomic_and_plain_write",
                        __FILE__,
                        check::Kind::race,
                        check::Severity::error,
                        [] { return on_output<float, Kernel<true>>(1, 1, Dim3{2}); },
                        [] { return on_output<float, Kernel<false>>(1, 1, Dim3{2}); }};

}  // namespace tessera::broken::global_atomic_and_plain_write
