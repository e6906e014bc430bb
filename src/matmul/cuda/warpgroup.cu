// `warpgroup` for CUDA (kernels/warpgroup_tiled.hpp): selects the file of the types.
// A device without a warpgroup's units, and operands that bulk copies cannot read, get
// `tensor_core`.
#include "matmul/ladder.hpp"
#include "warpgroup.cuh"

namespace tessera::detail {

void run_warpgroup_on_cuda(const CudaCall& call) {
  const Problem& p = call.problem;
  const bool has_units = cuda::abilities(call.stream.device()).capability == 90 &&
                         why_no_bulk_operands(p, call.A, call.B).empty();
  if (!has_units && size_of(p.in) > 1)
    return run_tensor_core_on_cuda(
        {p, TensorCoreTiles::tiles[0], call.stream, call.A, call.B, call.C, call.bias});
  visit_warpgroup_product(p.in, p.out,
                          [&]<class In, class Out>() { run_warpgroup<In, Out>(call); });
}

void run_group_on_cuda(std::span<const GroupedProduct> products, const TileShape& tile,
                       const cuda::Stream& stream) {
  if (products.empty()) return;
  const Problem& first = products.front().problem;
  visit_warpgroup_product(first.in, first.out, [&]<class In, class Out>() {
    run_warpgroup_group<In, Out>(products, tile, stream);
  });
}

}  // namespace tessera::detail
