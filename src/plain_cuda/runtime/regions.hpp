// What a program says of its memory by NVTX: regions of a pool, which are all that kernels may
// access of it, and permissions. Private to the runtime.
#pragma once

#include <cstdint>
#include <vector>

#include "memory.hpp"
#include "tessera/check/check.hpp"
#include "tessera/plain_cuda/parts/place.h"

namespace tessera::plain_cuda {

/// Is it a pool, of which kernels may access the regions?
bool is_pool(const Allocation& allocation);
/// The region with this address, and nothing of a pool else: zero bytes.
struct RegionRange {
  std::uint64_t begin = 0;
  std::size_t bytes = 0;
};
RegionRange region_at(std::uint64_t address);
/// The regions that kernels may access now.
std::vector<check::detail::Buffer> region_buffers();
/// Of an address of a pool in no such region: was it in one?
check::detail::Elsewhere judge_pool(std::uint64_t address);
/// The accesses of a kernel, against the permissions.
void judge_permissions(const char* kernel, const Place& launched, std::uint64_t address, bool reads,
                       bool writes, bool updates);

}  // namespace tessera::plain_cuda
