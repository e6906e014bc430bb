// The accumulators of a matrix instruction begin with whatever was in the registers.
#pragma once

#include "broken_kernels/broken.hpp"
#include "tessera/ops/tensor_core.hpp"

namespace tessera::broken::fragment_without_value {

template <bool kBroken>
struct Kernel {
  static constexpr const char* name = "broken";
  static constexpr Dim3 block{32};
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    using Mma = TensorCore<float, float, MmaShape{16, 8, 8}>;
    typename Mma::FragmentC sum;
    if constexpr (!kBroken) sum = Mma::zero();
    typename Mma::FragmentA a{};
    typename Mma::FragmentB b{};
    Mma::mma(t, sum, a, b);  // here
    Mma::store_d(t, C, sum);
  }
};

inline const Case kCase{"fragment_without_value",
                        __FILE__,
                        check::Kind::uninitialized_read,
                        check::Severity::error,
                        [] { return on_output<float, Kernel<true>>(16, 8, Dim3{1}); },
                        [] { return on_output<float, Kernel<false>>(16, 8, Dim3{1}); }};

}  // namespace tessera::broken::fragment_without_value
