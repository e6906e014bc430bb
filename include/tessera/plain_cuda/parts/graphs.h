// Graphs that are captured from streams: CUDA Runtime API, "Graph Management" and "Stream
// Management". What would run on a stream that captures is kept, and runs where the graph is
// launched, in the order of the calls. Implemented in src/plain_cuda/runtime/graphs.cpp.
#pragma once

#include "../driver_types.h"
#include "place.h"

struct CUgraph_st;
struct CUgraphExec_st;
using cudaGraph_t = CUgraph_st*;
using cudaGraphExec_t = CUgraphExec_st*;
using cudaGraphNode_t = struct CUgraphNode_st*;

enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal,
  cudaStreamCaptureModeThreadLocal,
  cudaStreamCaptureModeRelaxed
};
enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone,
  cudaStreamCaptureStatusActive,
  cudaStreamCaptureStatusInvalidated
};

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode, TESSERA_PLACE);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph, TESSERA_PLACE);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                  TESSERA_PLACE);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph,
                                 unsigned long long flags = 0, TESSERA_PLACE);
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph, cudaGraphNode_t*,
                                        char*, std::size_t, TESSERA_PLACE) {
  return cudaGraphInstantiate(made, graph, 0ULL, place);
}
inline cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* made, cudaGraph_t graph,
                                                 unsigned long long flags = 0, TESSERA_PLACE) {
  return cudaGraphInstantiate(made, graph, flags, place);
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream, TESSERA_PLACE);
inline cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
/// How many there are; what they are is not told.
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, std::nullptr_t nodes, std::size_t* count,
                              TESSERA_PLACE);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph, TESSERA_PLACE);
cudaError_t cudaGraphDestroy(cudaGraph_t graph, TESSERA_PLACE);
