// `tensor_core`, compiled for the types that matrix units take and its tiles
// (kernels/tensor_core.hpp). The one algorithm that does not keep the bits of f32: its inputs are
// rounded to TF32.
#include "ladder.hpp"
#include "tessera/kernels/tensor_core.hpp"

namespace tessera::detail {

namespace {

constexpr TileShape kDefault{.bm = 64, .bn = 64, .bk = 32, .wm = 32, .wn = 32};
constexpr TileShape kWide{.bm = 128, .bn = 64, .bk = 32, .wm = 32, .wn = 32};
constexpr TileShape kTiles[] = {kDefault, kWide};

bool supports(DType in, DType out) {
  return in != DType::f64 && in != DType::i32 && has_native_product(in, out);
}

void run(const LadderCall& call) {
  using K = TensorCoreTiled<kDefault>;
  const DType in = call.problem.in, out = call.problem.out;
  if (call.tile == kWide) return run_kernel<TensorCoreTiled<kWide>, float, float>(call);
  if (in == DType::f32) return run_kernel<K, float, float>(call);
  if (in == DType::f16 && out == DType::f16) return run_kernel<K, f16, f16>(call);
  if (in == DType::f16) return run_kernel<K, f16, float>(call);
  if (out == DType::bf16) return run_kernel<K, bf16, bf16>(call);
  return run_kernel<K, bf16, float>(call);
}

}  // namespace

const LadderEntry kTensorCore{
    {"tensor_core", "warps multiply fragments with matrix units (f32 as TF32)", kTiles, false,
     supports, 1, Arithmetic::tf32},
    run,
    "TensorCoreTiled",
    warp_tile};

}  // namespace tessera::detail
