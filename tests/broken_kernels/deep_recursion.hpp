// A thread needs more than its stack.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::deep_recursion {

/// Its frames cannot be made one.
[[gnu::noinline]] inline int depth(volatile int* below, int left) {
  volatile int frame[256];
  frame[left % 256] = left;
  return left == 0 ? below[0] : depth(frame, left - 1) + frame[0];
}

template <bool kBroken>
struct Kernel : Staged {
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    volatile int start[1] = {0};
    C(t.thread.y, t.thread.x) = static_cast<float>(depth(start, kBroken ? 100000 : 10));
  }
};

inline const Case kCase{"deep_recursion",
                        __FILE__,
                        check::Kind::stack_overflow,
                        check::Severity::error,
                        [] { return on_output<float, Kernel<true>>(8, 8, Dim3{1}); },
                        [] { return on_output<float, Kernel<false>>(8, 8, Dim3{1}); }};

}  // namespace tessera::broken::deep_recursion
