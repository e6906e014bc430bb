// The kernel of warpgroup units in clusters on a GPU, against the same kernel without: tiles of A
// or of B come by copies into all blocks of a cluster.
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/cuda/runtime.hpp"
#include "tessera/kernels/tile_shape.hpp"

namespace tessera::testing {

struct ClusterResult {
  TileShape tile;
  int down, across;        ///< blocks of the cluster
  std::int64_t different;  ///< elements of C with other bits than without a cluster
};

/// C (M,N) = A (M,K) * B (K,N) of bf16.
std::vector<ClusterResult> compare_clusters(const cuda::Stream& stream, index_t M, index_t N,
                                            index_t K);

}  // namespace tessera::testing
