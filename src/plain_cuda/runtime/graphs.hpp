// Graphs: captured from streams, or built node by node. Private to the runtime.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "streams.hpp"
#include "tessera/plain_cuda/driver_types.h"
#include "tessera/plain_cuda/parts/graphs.h"

namespace tessera::plain_cuda {

/// Work that runs on the stream that it is given.
using StreamWork = std::function<void(cudaStream_t stream)>;

/// Does the stream capture? Then the work is stored instead of run.
bool is_captured(cudaStream_t stream, const StreamWork& work, cudaGraphNodeType type);
/// The graph that the stream captures into; null: none.
CUgraph_st* capture_of(cudaStream_t stream);
/// The stream's next work follows an event, which may belong to a capture: then the stream
/// captures, too.
void wait_in_capture(cudaStream_t stream, const CUevent_st& event);

}  // namespace tessera::plain_cuda

struct CUgraphNode_st {
  tessera::plain_cuda::StreamWork work;
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  std::vector<CUgraphNode_st*> after = {};
};

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes = {};
  std::vector<cudaStream_t> streams = {};  ///< that capture into it
  cudaStream_t first = nullptr;            ///< where the capture began

  CUgraphNode_st* add(tessera::plain_cuda::StreamWork work, cudaGraphNodeType type,
                      std::vector<CUgraphNode_st*> after);
};
