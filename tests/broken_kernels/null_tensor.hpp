// The output has a null pointer: a forgotten allocation.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::null_tensor {

struct Kernel {
  static constexpr const char* name = "broken";
  static constexpr Dim3 block{32};
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    C(0, t.lane) = 1;  // here
  }
};

inline check::Report checked(float* data) {
  return check::check({}, Dim3{1}, Kernel{}, Tensor<float*, row_major(1, 32)>(data));
}

inline const Case kCase{"null_tensor",
                        __FILE__,
                        check::Kind::out_of_bounds,
                        check::Severity::error,
                        [] { return checked(nullptr); },
                        [] {
                          std::vector<float> c(32);
                          return checked(c.data());
                        }};

}  // namespace tessera::broken::null_tensor
