// Two blocks store different values to one element.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::two_blocks_one_element {

template <bool kBroken>
struct Kernel {
  static constexpr const char* name = "broken";
  static constexpr Dim3 block{8};
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    const int col = t.block.x * (kBroken ? 7 : 8) + t.thread.x;
    C(0, col) = static_cast<float>(t.block.x);  // here
  }
};

inline const Case kCase{"two_blocks_one_element",
                        __FILE__,
                        check::Kind::race,
                        check::Severity::error,
                        [] { return on_output<float, Kernel<true>>(1, 16, Dim3{2}); },
                        [] { return on_output<float, Kernel<false>>(1, 16, Dim3{2}); }};

}  // namespace tessera::broken::two_blocks_one_element
