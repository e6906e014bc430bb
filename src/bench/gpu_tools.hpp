// Optional tools for measuring on a GPU, besides the driver: cuBLAS as the peer, NVML for clocks,
// Nsight Compute for counters.
#pragma once

#include <string>
#include <vector>

namespace tessera::bench {

struct GpuTool {
  std::string name, purpose;
  std::string path;     ///< empty: not found
  std::string version;  ///< as the tool reports it; empty: it does not
};

/// Loads libraries and queries the version of ncu; runs nothing on a GPU.
std::vector<GpuTool> gpu_tools();

}  // namespace tessera::bench
