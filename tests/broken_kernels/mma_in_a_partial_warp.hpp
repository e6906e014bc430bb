// A matrix instruction needs all 32 lanes.
#pragma once

#include "broken_kernels/broken.hpp"
#include "tessera/ops/tensor_core.hpp"

namespace tessera::broken::mma_in_a_partial_warp {

template <bool kBroken>
struct Kernel {
  static constexpr const char* name = "broken";
  static constexpr Dim3 block{kBroken ? 16 : 32};
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    using Mma = TensorCore<float, float, MmaShape{16, 8, 8}>;
    auto acc = Mma::zero();
    typename Mma::FragmentA a{};
    typename Mma::FragmentB b{};
    Mma::mma(t, acc, a, b);
    Mma::store_d(t, C, acc);
  }
};

inline const Case kCase{"mma_in_a_partial_warp",
                        __FILE__,
                        check::Kind::mma_misuse,
                        check::Severity::error,
                        [] { return on_output<float, Kernel<true>>(16, 8, Dim3{1}); },
                        [] { return on_output<float, Kernel<false>>(16, 8, Dim3{1}); }};

}  // namespace tessera::broken::mma_in_a_partial_warp
