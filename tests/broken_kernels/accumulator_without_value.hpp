// The sum begins with whatever was in the register.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::accumulator_without_value {

template <bool kBroken>
struct Kernel : Staged {
  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    Tile<float, 1, 1> acc;
    if constexpr (!kBroken) acc(0, 0) = 0;
    const index_t row = index_t{t.block.y} * T + t.thread.y,
                  col = index_t{t.block.x} * T + t.thread.x;
    if (!C.contains(row, col)) return;
    for (index_t k = 0; k < extent<1>(A); ++k)
      acc(0, 0) = fma(A(row, k), B(k, col), acc(0, 0));  // here
    C(row, col) = acc(0, 0);
  }
};

inline const Case kCase{"accumulator_without_value",
                        __FILE__,
                        check::Kind::uninitialized_read,
                        check::Severity::error,
                        [] { return product<Kernel<true>>(17, 31, 9); },
                        [] { return product<Kernel<false>>(17, 31, 9); }};

}  // namespace tessera::broken::accumulator_without_value
