// `warpgroup` for CUDA and one pair of types, in all of its tiles: a file for each, made from
// cuda_warpgroup_types.cu.in, because nvcc is slow.
#pragma once

#include "cuda/abilities.hpp"
#include "cuda_ladder.hpp"
#include "tessera/cuda/launch.cuh"
#include "tessera/cuda/tensor_map.hpp"
#include "warpgroup_operands.hpp"

namespace tessera::detail {

template <class In, class Out>
void run_warpgroup(const CudaCall& call) {
  const Problem& p = call.problem;
  const int multiprocessors = cuda::abilities(call.stream.device()).multiprocessors;
  WarpgroupLadder<WarpgroupTilesOf<In>>::with_kernel(
      call.tile, [&]<class Kernel>(const Kernel& kernel) {
        with_bulk_operands<Kernel, In, Out>(
            p, call.A, call.B, call.C, call.bias, cuda::tensor_map,
            [&](const auto& A, const auto& B, const auto& slices, const auto& C) {
              cuda::launch(call.stream, Kernel::grid(p.M, p.N, multiprocessors), kernel, A, B,
                           slices, C);
            });
      });
}

extern template void run_warpgroup<float, float>(const CudaCall&);
extern template void run_warpgroup<f16, f16>(const CudaCall&);
extern template void run_warpgroup<f16, float>(const CudaCall&);
extern template void run_warpgroup<bf16, bf16>(const CudaCall&);
extern template void run_warpgroup<bf16, float>(const CudaCall&);
extern template void run_warpgroup<f8e4m3, float>(const CudaCall&);
extern template void run_warpgroup<f8e5m2, float>(const CudaCall&);
extern template void run_warpgroup<std::int8_t, std::int32_t>(const CudaCall&);
extern template void run_warpgroup<std::uint8_t, std::int32_t>(const CudaCall&);

}  // namespace tessera::detail
