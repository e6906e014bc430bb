// expect: there is no matrix instruction of this shape and type: f64 16x8x8 and 16x8x16, f32 (as TF32) 16x8x4 and 16x8x8, f16 and bf16 16x8x8 and 16x8x16 with f32 sums, f8 16x8x32 with f32 sums, i8 and u8 16x8x32 with i32 sums; for warps of 64 lanes f32 16x16x4, f16 and bf16 16x16x16 and 32x32x8 with f32 sums
// expect: a matrix instruction runs on warps of as many lanes as it has: square shapes need a kernel that declares warp = 64, on the CPU engine; all others 32 lanes
#include "tessera/ops/tensor_core.hpp"
#include "tessera/simt/launch.hpp"

using namespace tessera;

constexpr auto shape = sizeof(TensorCore<float, float, MmaShape{8, 8, 8}>);          // refused
constexpr auto depth = sizeof(TensorCore<float, f16, MmaShape{16, 8, 32}>);          // refused
constexpr auto sums = sizeof(TensorCore<f16, f16, MmaShape{16, 8, 16}>);             // refused
constexpr auto no_doubles = sizeof(TensorCore<double, double, MmaShape{16, 8, 4}>);  // refused
constexpr auto square = sizeof(TensorCore<float, float, MmaShape{16, 16, 8}>);       // refused

template <class Mma, int Warp>
struct Multiplies {
  static constexpr int warp = Warp;
  void operator()(auto t) const {
    auto d = Mma::zero();
    Mma::mma(t, d, {}, {});
  }
};
using Square = TensorCore<float, float, MmaShape{16, 16, 4}>;
using Tf32 = TensorCore<float, float, MmaShape{16, 8, 8}>;
void use() {
  launch(LaunchConfig{.block = {64}}, Multiplies<Square, 32>{});  // refused
  launch(LaunchConfig{.block = {64}}, Multiplies<Tf32, 64>{});    // refused
}
