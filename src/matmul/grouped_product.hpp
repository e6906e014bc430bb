// A product of several that one launch computes, with its operands. Private to src/matmul.
#pragma once

#include <span>

#include "tessera/kernels/tile_shape.hpp"
#include "tessera/matmul/problem.hpp"
#include "tessera/simt/launch.hpp"

namespace tessera::detail {

/// A product of a group; K is contiguous, or M and N are, as bulk copies need it.
struct GroupedProduct {
  Problem problem;
  const void* A;
  const void* B;
  void* C;
  const void* bias = nullptr;
};

/// launch(grid, kernel, arguments...) on the engine.
inline auto engine_launcher(const LaunchConfig& with) {
  return [with]<class Kernel>(Dim3 grid, const Kernel& kernel, const auto&... arguments) {
    LaunchConfig config = with;
    config.grid = grid;
    config.block = Kernel::block;
    launch(config, kernel, arguments...);
  };
}

/// All of them on the engine; `config.threads` stands for the multiprocessors.
void run_group_on_engine(std::span<const GroupedProduct> products, const TileShape& tile,
                         const LaunchConfig& config);

}  // namespace tessera::detail
