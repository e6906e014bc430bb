// A GPU as the device of a benchmark, with cuBLAS as its peer.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "device.hpp"

namespace tessera::bench {

/// "cuda:N", which is there. Throws Error.
std::unique_ptr<BenchDevice> open_cuda_bench(const std::string& device);

/// Multiply-adds of one multiprocessor in one clock, for products of these types by these units, on
/// a GPU of this compute capability; 0 where it is not known. CUDA C++ Programming Guide,
/// "Arithmetic Instructions"; architecture papers of A100 and H100 for the matrix units.
int multiply_adds_per_clock(int major, int minor, std::string_view units, DType in);

/// So many sets of operands of this size exceed three times a cache.
index_t sets_beyond_cache(std::size_t set_bytes, index_t cache_bytes);

}  // namespace tessera::bench
