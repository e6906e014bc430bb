// What measuring on a GPU wants beside the driver: cuBLAS as the peer, NVML for clocks, Nsight
// Compute for counters. Each is looked for, none is needed.
#pragma once

#include <string>
#include <vector>

namespace tessera::cli {

struct GpuTool {
  std::string name, purpose;
  std::string path;     ///< where it was found; empty: it is not there
  std::string version;  ///< as it says it; empty: it does not
};

/// Loads libraries, and asks ncu for its version; starts nothing on a GPU.
std::vector<GpuTool> gpu_tools();

}  // namespace tessera::cli
