// Graphs that are captured from streams or made node by node: CUDA Runtime API, "Graph Management"
// and "Stream Management". The work is kept, and runs where the graph is launched. Implemented in
// src/plain_cuda/runtime: graphs.cpp, graph_nodes.cpp.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "../driver_types.h"
#include "../vector_types.h"
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
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph, TESSERA_PLACE);
cudaError_t cudaGraphDestroy(cudaGraph_t graph, TESSERA_PLACE);

enum cudaGraphNodeType {
  cudaGraphNodeTypeKernel,
  cudaGraphNodeTypeMemcpy,
  cudaGraphNodeTypeMemset,
  cudaGraphNodeTypeHost,
  cudaGraphNodeTypeGraph,
  cudaGraphNodeTypeEmpty
};

namespace tessera::plain_cuda {
/// A kernel with a copy of its arguments.
struct BoundKernel {
  void* closure;
  void (*run)(void* closure);
  void (*destroy)(void* closure);
};
/// A kernel of which the parameters are known: the rewriter takes the cast to void* off its name.
class KernelOfNode {
 public:
  constexpr KernelOfNode(std::nullptr_t = nullptr) {}
  template <class... P>
  KernelOfNode(void (*kernel)(P...))
      : kernel_(reinterpret_cast<void (*)()>(kernel)), bind_([](void (*k)(), void** arguments) {
          return bound(reinterpret_cast<void (*)(P...)>(k), arguments,
                       std::index_sequence_for<P...>());
        }) {}
  explicit operator bool() const { return kernel_ != nullptr; }
  BoundKernel bind(void** arguments) const { return bind_(kernel_, arguments); }

 private:
  template <class... P, std::size_t... i>
  static BoundKernel bound(void (*kernel)(P...), [[maybe_unused]] void** arguments,
                           std::index_sequence<i...>) {
    const auto call = [kernel, ... values = std::remove_cvref_t<P>(
                                   *static_cast<std::remove_cvref_t<P>*>(arguments[i]))] {
      kernel(values...);
    };
    using Call = std::remove_const_t<decltype(call)>;
    return {new Call(call), [](void* at) { (*static_cast<Call*>(at))(); },
            [](void* at) { delete static_cast<Call*>(at); }};
  }

  void (*kernel_)() = nullptr;
  BoundKernel (*bind_)(void (*)(), void**) = nullptr;
};
}  // namespace tessera::plain_cuda

struct cudaKernelNodeParams {
  tessera::plain_cuda::KernelOfNode func;
  dim3 gridDim, blockDim;
  unsigned sharedMemBytes;
  void** kernelParams;
  void** extra;
};
struct cudaMemsetParams {
  void* dst;
  std::size_t pitch;
  unsigned value, elementSize;
  std::size_t width, height;
};
struct cudaHostNodeParams {
  cudaHostFn_t fn;
  void* userData;
};

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags, TESSERA_PLACE);
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, std::size_t count,
                                   const cudaKernelNodeParams* how, TESSERA_PLACE);
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, std::size_t count,
                                   const cudaMemcpy3DParms* how, TESSERA_PLACE);
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, std::size_t count, void* to,
                                     const void* from, std::size_t bytes, cudaMemcpyKind kind,
                                     TESSERA_PLACE);
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, std::size_t count,
                                   const cudaMemsetParams* how, TESSERA_PLACE);
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* after, std::size_t count,
                                 const cudaHostNodeParams* how, TESSERA_PLACE);
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* after, std::size_t count, TESSERA_PLACE);
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* after, std::size_t count,
                                       cudaGraph_t child, TESSERA_PLACE);
/// to[i] waits for from[i].
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, std::size_t count, TESSERA_PLACE);
/// How many there are, and as many of them as `count` says where there is room for them.
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count,
                              TESSERA_PLACE);
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type, TESSERA_PLACE);
