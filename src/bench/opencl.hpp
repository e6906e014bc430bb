// An OpenCL device or an AMD GPU as the device of a benchmark. It has no peers, and nobody knows
// its peak.
#pragma once

#include <memory>
#include <string>

#include "device.hpp"

namespace tessera::bench {

/// "opencl:N" or "hip:N", an existing device. Throws Error.
std::unique_ptr<BenchDevice> open_opencl_bench(const std::string& device);

}  // namespace tessera::bench
