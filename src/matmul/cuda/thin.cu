// `thin` for CUDA (kernels/thin_tiled.hpp). A device without a warpgroup's units, and operands that
// bulk copies cannot read, get `tensor_core`.
#include "cuda/abilities.hpp"
#include "cuda/scratch.hpp"
#include "ladder.hpp"
#include "launcher.cuh"
#include "matmul/ladder.hpp"
#include "matmul/thin_operands.hpp"
#include "tessera/cuda/tensor_map.hpp"

namespace tessera::detail {

namespace {

template <class In, class Out>
void run_typed(const CudaCall& call) {
  const Problem& p = call.problem;
  const GroupedProduct product{p, call.A, call.B, call.C, call.bias};
  const index_t bytes = bytes_of_parts(p, call.parts);
  if (bytes == 0)
    return run_thin_by<In, Out>(product, call.tile, 1, nullptr, cuda::tensor_map,
                                launcher(call.stream));
  const cuda::Scratch sums(static_cast<std::size_t>(bytes), call.stream);
  run_thin_by<In, Out>(product, call.tile, call.parts, sums.data(), cuda::tensor_map,
                       launcher(call.stream));
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
