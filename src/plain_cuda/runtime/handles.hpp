// The content of streams and events. Private to the runtime.
#pragma once

#include <chrono>
#include <vector>

#include "streams.hpp"

struct CUgraphNode_st;

struct CUstream_st {
  unsigned flags = 0;
  int number = 0;                          ///< of Streams
  struct CUgraph_st* graph = nullptr;      ///< that it captures into
  std::vector<CUgraphNode_st*> last = {};  ///< the dependencies of its next node
  bool is_destroyed = false;               ///< kept, to find uses of it
};

struct CUevent_st {
  bool is_recorded = false;
  std::chrono::steady_clock::time_point when = {};
  tessera::plain_cuda::StreamClock clock = {};
  struct CUgraph_st* graph = nullptr;      ///< of the capture in which it was recorded
  std::vector<CUgraphNode_st*> last = {};  ///< the nodes that it stands for there
  bool is_destroyed = false;               ///< kept, to find uses of it
};

namespace tessera::plain_cuda {

/// Refuses a stream that was destroyed.
cudaError_t require_stream(const char* call, cudaStream_t stream, const Place& place);

}  // namespace tessera::plain_cuda
