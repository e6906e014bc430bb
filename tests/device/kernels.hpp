// Kernels that the tests give to run().
#pragma once

#include "tessera/device/device.hpp"

namespace tessera::testing {

struct AddTo {  // y += factor * x
  static constexpr const char* name = "add_to";
  static constexpr Dim3 block{32};
  TESSERA_KERNEL void operator()(auto t, auto x, auto y, float factor) const {
    const index_t i = index_t{t.block.x} * block.x + t.thread.x;
    if (i < y.size()) y(i) = fma(factor, x(i), y(i));
  }
};

struct Fill {  // y = value, over a grid of any block
  float value;
  static constexpr const char* name = "fill";
  TESSERA_KERNEL void operator()(auto t, auto y) const {
    const index_t i = index_t{t.block.x} * t.block_dim.x + t.thread.x;
    if (i < y.size()) y(i) = value;
  }
};

struct Racy {  // every thread writes to the first element
  static constexpr const char* name = "racy";
  static constexpr Dim3 block{32};
  TESSERA_KERNEL void operator()(auto t, auto y) const { y(0) = static_cast<float>(t.thread.x); }
};

}  // namespace tessera::testing
