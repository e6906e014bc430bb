// Captures what streams would do, and does it where the graph is launched: see parts/graphs.h.
#include "tessera/plain_cuda/parts/graphs.h"

#include <algorithm>
#include <vector>

#include "graphs.hpp"
#include "handles.hpp"
#include "program.hpp"

struct CUgraph_st {
  std::vector<tessera::plain_cuda::StreamWork> work = {};
  std::vector<cudaStream_t> streams = {};  ///< that capture into it
  cudaStream_t first = nullptr;            ///< where the capture has begun
};
struct CUgraphExec_st {
  std::vector<tessera::plain_cuda::StreamWork> work;
};

using tessera::plain_cuda::Place;
using tessera::plain_cuda::Program;

namespace tessera::plain_cuda {

CUgraph_st* capture_of(cudaStream_t stream) {
  const bool is_default =
      stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
  return is_default ? nullptr : stream->graph;
}

namespace {
cudaError_t refuse(const Place& place, const char* problem, const char* hint) {
  return Program::get().refuse(cudaErrorInvalidValue, place, problem, hint);
}
}  // namespace

bool is_captured(cudaStream_t stream, const StreamWork& work) {
  CUgraph_st* const graph = capture_of(stream);
  if (graph != nullptr) graph->work.push_back(work);
  return graph != nullptr;
}

void join_capture(cudaStream_t stream, CUgraph_st* graph) {
  if (graph == nullptr || capture_of(stream) == graph) return;
  stream->graph = graph;
  graph->streams.push_back(stream);
}

}  // namespace tessera::plain_cuda

using tessera::plain_cuda::capture_of;
using tessera::plain_cuda::refuse;

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode, Place place) {
  if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread)
    return refuse(place, "the default stream cannot capture", "capture on a stream of your own");
  if (stream->graph != nullptr)
    return refuse(place, "the stream captures already", "end the first capture before");
  tessera::plain_cuda::join_capture(stream, new CUgraph_st{.first = stream});
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph, Place place) {
  CUgraph_st* const captured = capture_of(stream);
  if (captured == nullptr || captured->first != stream)
    return refuse(place, "no capture has begun on this stream", "cudaStreamBeginCapture");
  for (const cudaStream_t each : captured->streams) each->graph = nullptr;
  captured->streams.clear();
  *graph = captured;
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status, Place) {
  *status =
      capture_of(stream) != nullptr ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph, unsigned long long,
                                 Place place) {
  if (graph == nullptr) return refuse(place, "no graph was captured", "cudaStreamEndCapture");
  *made = new CUgraphExec_st{graph->work};
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream, Place place) {
  if (graph == nullptr) return refuse(place, "no graph was made", "cudaGraphInstantiate");
  for (const auto& each : graph->work) each(stream);
  return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, std::nullptr_t, std::size_t* count, Place place) {
  if (graph == nullptr) return refuse(place, "no graph was captured", "cudaStreamEndCapture");
  *count = graph->work.size();
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph, Place) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph, Place) {
  delete graph;
  return cudaSuccess;
}
