// What streams keep while they capture. Private to the run-time.
#pragma once

#include <functional>

#include "tessera/plain_cuda/driver_types.h"

struct CUgraph_st;

namespace tessera::plain_cuda {

/// Work that is done on the stream it is given.
using StreamWork = std::function<void(cudaStream_t stream)>;

/// Does the stream capture? Then the work is kept, and not to be done now.
bool is_captured(cudaStream_t stream, const StreamWork& work);
/// The graph into which the stream captures; null: none.
CUgraph_st* capture_of(cudaStream_t stream);
/// The stream captures into the graph that an event belongs to; null: into none.
void join_capture(cudaStream_t stream, CUgraph_st* graph);

}  // namespace tessera::plain_cuda
