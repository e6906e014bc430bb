// A GPU as the device of a benchmark, with cuBLAS as its peer.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "device.hpp"

namespace tessera::bench {

/// "cuda:N", an existing device. Throws Error.
std::unique_ptr<BenchDevice> open_cuda_bench(const std::string& device);

/// Multiply-adds of one multiprocessor per clock, for products of these types by these units, on a
/// GPU of this compute capability; 0 if unknown. CUDA C++ Programming Guide, "Arithmetic
/// Instructions"; architecture papers of A100 and H100 for the matrix units.
int multiply_adds_per_clock(int major, int minor, std::string_view units, DType in);

/// This many sets of operands of this size exceed three times a cache.
index_t sets_beyond_cache(std::size_t set_bytes, index_t cache_bytes);

}  // namespace tessera::bench
