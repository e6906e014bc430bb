// How a plan describes a kernel on CUDA beside its tile: see choice.hpp.
#include "matmul/bulk_tiled_operands.hpp"
#include "matmul/choice.hpp"
#include "matmul/thin_operands.hpp"
#include "matmul/warpgroup_operands.hpp"
#include "tessera/kernels/pipelined.hpp"
#include "tessera/kernels/tensor_core.hpp"

namespace tessera::detail {

namespace {

/// Tiles along K that a block has in flight; 0: the kernel has no ring of them.
int stages_of(const Problem& p, std::string_view algorithm, const TileShape& tile) {
  int out = 0;
  const auto take = [&]<class Kernel>(const Kernel&) { out = Kernel::stages; };
  if (algorithm == "warpgroup") {
    if (size_of(p.in) == 1) WarpgroupLadder<std::int8_t>::with_kernel(tile, take);
    else WarpgroupLadder<f16>::with_kernel(tile, take);
  } else if (algorithm == "thin") {
    ThinLadder<ThinTiles>::with_kernel(p, tile, take);
  } else if (algorithm == "pipelined") {
    out = Pipelined<PipelinedTiles::tiles[0]>::stages;
  } else if (algorithm == "tensor_core") {
    using Kernel = TensorCoreTiled<TensorCoreTiles::tiles[0]>;
    out = p.in == DType::f64   ? Kernel::stages<double>
          : p.in == DType::f32 ? Kernel::stages<float>
                               : Kernel::stages<f16>;
  } else if (algorithm == "bulk_tiled") {
    const auto no_map = [](const BulkFields&) { return BulkMap{}; };
    const auto take_shared = [&]<class Kernel>(const Kernel&, const auto&...) {
      out = Kernel::template Shared<float>::stages;
    };
    if (tile == BulkTiledTiles::tiles[0])
      with_bulk_tiles<BulkTiledTiles::tiles[0]>(p, nullptr, nullptr, nullptr, nullptr, no_map,
                                                take_shared);
    else
      with_bulk_tiles<BulkTiledTiles::tiles[1]>(p, nullptr, nullptr, nullptr, nullptr, no_map,
                                                take_shared);
  }
  return out;
}

}  // namespace

std::string described(const Problem& p, std::string_view algorithm, const TileShape& tile) {
  std::string out;
  if (const int stages = stages_of(p, algorithm, tile); stages > 0) out = cat(stages, " stages");
  if (tile.cm * tile.cn > 1)
    out += cat(out.empty() ? "" : ", ", "clusters of ", tile.cm, " x ", tile.cn, " blocks");
  return out;
}

}  // namespace tessera::detail
