// What nvcc must refuse, each with its sentence (compile_test.py knows them): a kernel for warps of
// 64 lanes, a matrix instruction of 64 lanes in a kernel for 32, and one of f8 for sm_80.
#include "tessera/ops/tensor_core.hpp"
#include "tessera/simt/cuda_thread.cuh"

namespace tessera {

struct WarpOf64 {
  static constexpr Dim3 block{64};
  static constexpr int warp = 64;
  TESSERA_KERNEL void operator()(auto t, float* out) const { out[t.thread] = 1; }
};
struct InstructionOf64 {
  static constexpr Dim3 block{64};
  TESSERA_KERNEL void operator()(auto t, float* out) const {
    using Mma = TensorCore<float, float, MmaShape{16, 16, 4}>;
    auto d = Mma::zero();
    Mma::mma(t, d, {}, {});
    out[t.thread] = d.value[0];
  }
};

struct EightBits {
  static constexpr Dim3 block{32};
  TESSERA_KERNEL void operator()(auto t, float* out) const {
    using Mma = TensorCore<float, f8e4m3, MmaShape{16, 8, 32}>;
    auto d = Mma::zero();
    Mma::mma(t, d, {}, {});
    out[t.thread] = d.value[0];
  }
};

template __global__ void entry<WarpOf64, float*>(WarpOf64, Dim3, float*);
template __global__ void entry<InstructionOf64, float*>(InstructionOf64, Dim3, float*);
template __global__ void entry<EightBits, float*>(EightBits, Dim3, float*);

}  // namespace tessera
