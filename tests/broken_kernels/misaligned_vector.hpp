// One of the vectors does not begin at a multiple of 16 bytes.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::misaligned_vector {

template <bool kBroken>
struct Kernel {
  static constexpr const char* name = "broken";
  static constexpr Dim3 block{4};
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    const int first = t.thread * 4 - (kBroken && t.thread == 3 ? 1 : 0);
    const auto v = vectorize<1, 4>(Tensor<float*, row_major(1, 4)>(C.data() + first));
    v(0, 0) = Vec<float, 4>::filled(1);  // here
  }
};

inline const Case kCase{"misaligned_vector",
                        __FILE__,
                        check::Kind::misaligned,
                        check::Severity::error,
                        [] { return on_output<float, Kernel<true>>(1, 16, Dim3{1}); },
                        [] { return on_output<float, Kernel<false>>(1, 16, Dim3{1}); }};

}  // namespace tessera::broken::misaligned_vector
