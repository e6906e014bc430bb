// expect: there is no matrix instruction of this shape and type: f32 (as TF32) 16x8x4 and 16x8x8, f16 and bf16 16x8x8 and 16x8x16 with f32 sums, f8 16x8x32 with f32 sums, i8 and u8 16x8x32 with i32 sums
#include "tessera/ops/tensor_core.hpp"

using namespace tessera;

constexpr auto shape = sizeof(TensorCore<float, float, MmaShape{8, 8, 8}>);          // refused
constexpr auto depth = sizeof(TensorCore<float, f16, MmaShape{16, 8, 32}>);          // refused
constexpr auto sums = sizeof(TensorCore<f16, f16, MmaShape{16, 8, 16}>);             // refused
constexpr auto no_doubles = sizeof(TensorCore<double, double, MmaShape{16, 8, 8}>);  // refused
