// `thin` for CUDA (kernels/thin_tiled.hpp). A device without a warpgroup's units, and operands that
// bulk copies cannot read, get `tensor_core`.
#include "cuda/abilities.hpp"
#include "cuda_ladder.hpp"
#include "ladder.hpp"
#include "tessera/cuda/launch.cuh"
#include "tessera/cuda/tensor_map.hpp"
#include "thin_operands.hpp"

namespace tessera::detail {

namespace {

template <class In, class Out>
void run_typed(const CudaCall& call) {
  const Problem& p = call.problem;
  ThinLadder<ThinTiles>::with_kernel(p, call.tile, [&]<class Kernel>(const Kernel& kernel) {
    with_thin_operands<Kernel, In, Out>(
        p, call.A, call.B, call.C, call.bias, cuda::tensor_map,
        [&](const auto& L, const auto& S, const auto& C) {
          cuda::launch(call.stream, Kernel::grid(std::max(p.M, p.N), std::min(p.M, p.N)), kernel, L,
                       S, C);
        });
  });
}

}  // namespace

void run_thin_on_cuda(const CudaCall& call) {
  const Problem& p = call.problem;
  if (cuda::abilities(call.stream.device()).capability != 90 ||
      !why_no_thin_operands(p, call.A, call.B).empty())
    return run_tensor_core_on_cuda(
        {p, TensorCoreTiles::tiles[0], call.stream, call.A, call.B, call.C, call.bias});
  visit_unit_product(p.in, p.out, [&]<class In, class Out>() { run_typed<In, Out>(call); });
}

}  // namespace tessera::detail
