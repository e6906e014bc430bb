// The element types that the packed path multiplies, for typed tests of the calls built on it.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tessera/core/dtype.hpp"

namespace tessera::testing {

template <class In_, class Out_ = In_>
struct Into {
  using In = In_;
  using Out = Out_;
};
struct IntoNames {
  template <class T>
  static std::string GetName(int) {
    return cat(name(dtype_of<typename T::In>()), "_into_", name(dtype_of<typename T::Out>()));
  }
};
using PackedTypes = ::testing::Types<Into<float>, Into<float, f16>, Into<float, bf16>, Into<double>,
                                     Into<f16>, Into<f16, float>, Into<bf16>, Into<bf16, float>,
                                     Into<std::int8_t, std::int32_t>, Into<std::int8_t, float>,
                                     Into<std::uint8_t, std::int32_t>, Into<std::uint8_t, float>>;

}  // namespace tessera::testing
