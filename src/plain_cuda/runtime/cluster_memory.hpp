// The shared memory of the blocks of a cluster. It is thread-local storage of the OS thread that
// runs them all, and holds that of the running block; that of the others is kept in images,
// to which map_shared_rank() leads. Private to the runtime.
#pragma once

#include <cstddef>
#include <vector>

#include "check/cluster_images.hpp"

namespace tessera::plain_cuda {

class ClusterMemory {
 public:
  explicit ClusterMemory(int blocks);
  ~ClusterMemory();
  ClusterMemory(const ClusterMemory&) = delete;
  ClusterMemory& operator=(const ClusterMemory&) = delete;

  int blocks() const { return images_.blocks; }
  /// From now on a thread of this block runs.
  void bring(int rank) {
    if (rank != resident_) exchange(rank);
  }
  /// Where the running block finds what is at this address of its own shared memory in another
  /// block; null: `at` is not in shared memory.
  void* in(int rank, const void* at) const;
  /// The block that has this address; -1: none.
  int rank_of(const void* at) const;

 private:
  void exchange(int rank);
  std::byte* image(int rank) const;

  std::vector<std::byte> bytes_;
  check::ClusterImages images_;
  int resident_ = -1;  ///< -1: no thread has run yet
};

}  // namespace tessera::plain_cuda
