// The part of cuda::launch() (launch.cuh) that does not need nvcc: one compiled kernel, and the
// extents of the grid that the hardware accepts.
#pragma once

#include "tessera/cuda/runtime.hpp"
#include "tessera/simt/dim3.hpp"

namespace tessera::cuda::detail {

/// The largest number of blocks along y and along z.
inline constexpr int kMostRows = 65535;

/// The extents passed to the hardware: surplus rows of a two-dimensional grid are folded into z,
/// and CudaThread unfolds them.
constexpr Dim3 launch_extents(Dim3 grid) {
  if (grid.z != 1 || grid.y <= kMostRows) return grid;
  const int layers = grid.y / kMostRows + (grid.y % kMostRows != 0);
  return {grid.x, grid.y / layers + (grid.y % layers != 0), layers};
}

/// The properties of one kernel for arguments of given types.
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
