// `warpgroup` for CUDA and one pair of types, in all of its tiles: a file for each, made from
// warpgroup_types.cu.in, because nvcc is slow.
#pragma once

#include "cuda/abilities.hpp"
#include "cuda/scratch.hpp"
#include "ladder.hpp"
#include "launcher.cuh"
#include "matmul/warpgroup_group.hpp"
#include "tessera/cuda/tensor_map.hpp"

namespace tessera::detail {

template <class In, class Out>
void run_warpgroup_group(std::span<const GroupedProduct> products, const TileShape& tile,
                         const cuda::Stream& stream) {
  run_group<In, Out>(products, tile, cuda::abilities(stream.device()).multiprocessors,
                     cuda::tensor_map, launcher(stream));
}

template <class In, class Out>
void run_warpgroup(const CudaCall& call) {
  const Problem& p = call.problem;
  const int multiprocessors = cuda::abilities(call.stream.device()).multiprocessors;
  if (const index_t bytes = bytes_of_parts(p, call.parts); bytes > 0) {
    const cuda::Scratch sums(static_cast<std::size_t>(bytes), call.stream);
    return run_in_parts<In, Out>(
        {p, call.A, call.B, call.C, call.bias}, call.parts, sums.data(),
        [&](std::span<const GroupedProduct> parts) {
          run_warpgroup_group<In, Accumulator<Out>>(parts, call.tile, call.stream);
        },
        launcher(call.stream));
  }
  WarpgroupLadder<In>::with_kernel(call.tile, [&]<class Kernel>(const Kernel& kernel) {
    with_bulk_operands<Kernel, In, Out>(
        p, call.A, call.B, call.C, call.bias, cuda::tensor_map,
        [&](const auto& A, const auto& B, const auto& slices, const auto& C) {
          cuda::launch(call.stream, Kernel::grid(p.M, p.N, multiprocessors), kernel, A, B, slices,
                       C);
        });
  });
}

extern template void run_warpgroup<float, float>(const CudaCall&);
extern template void run_warpgroup_group<float, float>(std::span<const GroupedProduct>,
                                                       const TileShape&, const cuda::Stream&);
extern template void run_warpgroup<f16, f16>(const CudaCall&);
extern template void run_warpgroup_group<f16, f16>(std::span<const GroupedProduct>,
                                                   const TileShape&, const cuda::Stream&);
extern template void run_warpgroup<f16, float>(const CudaCall&);
extern template void run_warpgroup_group<f16, float>(std::span<const GroupedProduct>,
                                                     const TileShape&, const cuda::Stream&);
extern template void run_warpgroup<bf16, bf16>(const CudaCall&);
extern template void run_warpgroup_group<bf16, bf16>(std::span<const GroupedProduct>,
                                                     const TileShape&, const cuda::Stream&);
extern template void run_warpgroup<bf16, float>(const CudaCall&);
extern template void run_warpgroup_group<bf16, float>(std::span<const GroupedProduct>,
                                                      const TileShape&, const cuda::Stream&);
extern template void run_warpgroup<f8e4m3, float>(const CudaCall&);
extern template void run_warpgroup_group<f8e4m3, float>(std::span<const GroupedProduct>,
                                                        const TileShape&, const cuda::Stream&);
extern template void run_warpgroup<f8e5m2, float>(const CudaCall&);
extern template void run_warpgroup_group<f8e5m2, float>(std::span<const GroupedProduct>,
                                                        const TileShape&, const cuda::Stream&);
extern template void run_warpgroup<std::int8_t, std::int32_t>(const CudaCall&);
extern template void run_warpgroup_group<std::int8_t, std::int32_t>(std::span<const GroupedProduct>,
                                                                    const TileShape&,
                                                                    const cuda::Stream&);
extern template void run_warpgroup<std::uint8_t, std::int32_t>(const CudaCall&);
extern template void run_warpgroup_group<std::uint8_t, std::int32_t>(
    std::span<const GroupedProduct>, const TileShape&, const cuda::Stream&);

}  // namespace tessera::detail
