// Blocks update an element atomically and then store the same value in it plainly: one block's
// store meets another one's update. Twin: the updates alone.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::atomic_then_plain {

template <bool kBroken>
struct Kernel {
  static constexpr const char* name = "broken";
  static constexpr Dim3 block{1};
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    t.atomic_add(C(0, 0), 2.0f);
    if constexpr (kBroken) C(0, 0) = 1;  // here
  }
};

inline const Case kCase{"atomic_then_plain",
                        __FILE__,
                        check::Kind::race,
                        check::Severity::error,
                        [] {
                          return on_output<float, Kernel<true>>(1, 1, Dim3{1, 1, 4});
                        },
                        [] {
                          return on_output<float, Kernel<false>>(1, 1, Dim3{1, 1, 4});
                        }};

}  // namespace tessera::broken::atomic_then_plain
