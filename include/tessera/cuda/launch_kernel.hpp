// What cuda::launch() (launch.cuh) hands to the runtime, without nvcc: one compiled kernel, and the
// extents of the grid as the hardware takes them.
#pragma once

#include "tessera/cuda/runtime.hpp"
#include "tessera/simt/dim3.hpp"

namespace tessera::cuda::detail {

/// Most blocks along y and along z.
inline constexpr int kMostRows = 65535;

/// The extents that the hardware is given for a grid: more rows of a two-dimensional one are folded
/// into z, and CudaThread unfolds them.
constexpr Dim3 launch_extents(Dim3 grid) {
  if (grid.z != 1 || grid.y <= kMostRows) return grid;
  const int layers = grid.y / kMostRows + (grid.y % kMostRows != 0);
  return {grid.x, grid.y / layers + (grid.y % layers != 0), layers};
}

/// What is the same for every launch of one kernel with arguments of the same types.
struct Kernel {
  const void* function;
  const char* name;
  Dim3 block;
  std::size_t shared_bytes;
  Dim3 cluster{};             ///< blocks that run together (sm_90)
  bool starts_early = false;  ///< it may start before the kernel before it in the stream is over
};

/// Throws Error(argument) for a grid or storage that the device does not have, Error(unavailable)
/// where it is not compiled for the device.
void launch(const Stream& stream, const Kernel& kernel, Dim3 grid, void** arguments);

}  // namespace tessera::cuda::detail
