// expect: sm_80 has no matrix unit for f8
// expect: the depth of an instruction is a multiple of what its unit adds at once
// expect: sums of f16, bf16, TF32 and f8 are f32
#include "tessera/core/small_float.hpp"
#include "tessera/ops/unit_arithmetic.hpp"

using namespace tessera;

constexpr f8e4m3 small[32]{};
constexpr f16 half[20]{};
const float use_1 = sum_of_products<MatrixUnit::sm_80, 32>(0.0f, small, small);  // refused
const float use_2 = sum_of_products<MatrixUnit::sm_90, 20>(0.0f, half, half);    // refused
const double use_3 = sum_of_products<MatrixUnit::sm_90, 16>(0.0, half, half);    // refused
