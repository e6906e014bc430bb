// What a thread of plain CUDA asks of its cluster: cooperative_groups::this_cluster(). Implemented
// in src/plain_cuda/runtime/cluster_memory.cpp.
#pragma once

#include "../vector_types.h"
#include "place.h"

namespace tessera::plain_cuda {

dim3 cluster_extents() noexcept __attribute__((const));
unsigned cluster_block_rank() noexcept __attribute__((const));
void cluster_arrive(Place place);
void cluster_wait(Place place);
/// The same variable of another block.
void* map_shared(const void* at, unsigned rank, Place place);
/// Whose shared memory the address is in.
unsigned shared_rank(const void* at, Place place);

}  // namespace tessera::plain_cuda
