// Where the shared memory of a cluster's blocks is while another of them runs. In plain CUDA it is
// thread-local storage of the OS thread, which one block has at a time; the runtime keeps what the
// others have in images, and a pointer to the shared memory of another block leads there.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

namespace tessera::check {

struct ClusterImages {
  std::uint64_t begin = 0;              ///< of the image of the first block
  std::uint64_t stride = 0, bytes = 0;  ///< from one to the next; of each
  int blocks = 0;

  /// Rank and offset of an address: also of one a little outside the block's shared memory.
  std::optional<std::pair<int, std::uint64_t>> find(std::uint64_t address) const {
    if (blocks == 0 || address - begin >= stride * static_cast<std::uint64_t>(blocks)) return {};
    return std::pair(static_cast<int>((address - begin) / stride), (address - begin) % stride);
  }
};

/// Of the cluster that this OS thread runs; null: of none.
extern constinit thread_local const ClusterImages* cluster_images;

}  // namespace tessera::check
