// Graphs that are built node by node: see parts/graphs.h.
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "graphs.hpp"
#include "program.hpp"
#include "tessera/core/text.hpp"
#include "tessera/plain_cuda/parts/launch.h"
#include "tessera/plain_cuda/parts/runtime_api.h"

using namespace tessera::plain_cuda;

namespace {

/// The graph of a new node.
struct Target {
  const char* call;
  cudaGraphNode_t* node;
  cudaGraph_t graph;
  const cudaGraphNode_t* after;
  std::size_t count;
  bool has_parameters;
  Place place;
};

cudaError_t add(const Target& to, StreamWork work, cudaGraphNodeType type) {
  std::vector<CUgraphNode_st*> after(to.after, to.after + (to.after == nullptr ? 0 : to.count));
  const auto& nodes = to.graph->nodes;
  const bool are_its_own = std::all_of(after.begin(), after.end(), [&](const auto* each) {
    return std::any_of(nodes.begin(), nodes.end(), [&](const auto& n) { return n.get() == each; });
  });
  if (!are_its_own)
    return refuse(cudaErrorInvalidValue, to.place,
                  tessera::cat(to.call, ": a dependency is no node of this graph"),
                  "give it nodes that were added to the same graph");
  *to.node = to.graph->add(std::move(work), type, std::move(after));
  return cudaSuccess;
}

/// Null if the call is valid.
cudaError_t require(const Target& to) {
  if (to.node != nullptr && to.graph != nullptr && to.has_parameters) return cudaSuccess;
  return refuse(cudaErrorInvalidValue, to.place,
                tessera::cat(to.call, ": the ",
                             to.graph == nullptr  ? "graph"
                             : to.node == nullptr ? "pointer to the new node"
                                                  : "pointer to the parameters",
                             " is null"),
                "cudaGraphCreate makes a graph");
}

/// The elements of a fill, row by row.
void fill(const cudaMemsetParams& how, cudaStream_t stream, const Place& place) {
  for (std::size_t row = 0; row < std::max<std::size_t>(how.height, 1); ++row) {
    void* const at = static_cast<char*>(how.dst) + row * how.pitch;
    if (how.elementSize == 1) {
      cudaMemsetAsync(at, static_cast<int>(how.value), how.width, stream, place);
      continue;
    }
    std::vector<char> bytes(how.width * how.elementSize);
    for (std::size_t i = 0; i < how.width; ++i)
      std::memcpy(bytes.data() + i * how.elementSize, &how.value, how.elementSize);
    cudaMemcpyAsync(at, bytes.data(), bytes.size(), cudaMemcpyHostToDevice, stream, place);
  }
}

}  // namespace

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned, Place place) {
  if (graph == nullptr)
    return refuse(cudaErrorInvalidValue, place, "cudaGraphCreate: the pointer to the graph is null",
                  "give it a graph");
  *graph = new CUgraph_st;
  return cudaSuccess;
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, std::size_t count,
                                   const cudaKernelNodeParams* how, Place place) {
  const Target to{"cudaGraphAddKernelNode", node, graph, after, count, how != nullptr, place};
  if (const auto error = require(to)) return error;
  if (!how->func)
    return refuse(cudaErrorInvalidValue, place, "cudaGraphAddKernelNode: there is no kernel",
                  "func = (void*)kernel");
  auto* const kept = new BoundKernel(how->func.bind(how->kernelParams));
  const std::shared_ptr<BoundKernel> bound(kept, [](BoundKernel* each) {
    each->destroy(each->closure);
    delete each;
  });
  const dim3 grid = how->gridDim, block = how->blockDim;
  const std::size_t shared = how->sharedMemBytes;
  return add(
      to,
      [=](cudaStream_t stream) {
        configure(place, grid, block, shared, stream);
        bound->run(bound->closure);
      },
      cudaGraphNodeTypeKernel);
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, std::size_t count,
                                   const cudaMemcpy3DParms* how, Place place) {
  const Target to{"cudaGraphAddMemcpyNode", node, graph, after, count, how != nullptr, place};
  if (const auto error = require(to)) return error;
  return add(
      to, [copy = *how, place](cudaStream_t stream) { cudaMemcpy3DAsync(&copy, stream, place); },
      cudaGraphNodeTypeMemcpy);
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, std::size_t count, void* target,
                                     const void* from, std::size_t bytes, cudaMemcpyKind kind,
                                     Place place) {
  const Target to{"cudaGraphAddMemcpyNode1D", node, graph, after, count, true, place};
  if (const auto error = require(to)) return error;
  return add(
      to, [=](cudaStream_t stream) { cudaMemcpyAsync(target, from, bytes, kind, stream, place); },
      cudaGraphNodeTypeMemcpy);
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, std::size_t count,
                                   const cudaMemsetParams* how, Place place) {
  const Target to{"cudaGraphAddMemsetNode", node, graph, after, count, how != nullptr, place};
  if (const auto error = require(to)) return error;
  if (how->elementSize != 1 && how->elementSize != 2 && how->elementSize != 4)
    return refuse(cudaErrorInvalidValue, place,
                  tessera::cat("cudaGraphAddMemsetNode: elements of ", how->elementSize, " bytes"),
                  "elementSize is 1, 2 or 4");
  return add(
      to, [fills = *how, place](cudaStream_t stream) { fill(fills, stream, place); },
      cudaGraphNodeTypeMemset);
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* after, std::size_t count,
                                 const cudaHostNodeParams* how, Place place) {
  const Target to{"cudaGraphAddHostNode", node, graph, after, count, how != nullptr, place};
  if (const auto error = require(to)) return error;
  return add(
      to,
      [host = *how, place](cudaStream_t stream) {
        cudaLaunchHostFunc(stream, host.fn, host.userData, place);
      },
      cudaGraphNodeTypeHost);
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* after, std::size_t count, Place place) {
  const Target to{"cudaGraphAddEmptyNode", node, graph, after, count, true, place};
  if (const auto error = require(to)) return error;
  return add(
      to, [](cudaStream_t) {}, cudaGraphNodeTypeEmpty);
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* after, std::size_t count,
                                       cudaGraph_t child, Place place) {
  const Target to{"cudaGraphAddChildGraphNode", node, graph, after, count, child != nullptr, place};
  if (const auto error = require(to)) return error;
  cudaGraphExec_t made = nullptr;
  if (const auto error = cudaGraphInstantiate(&made, child, 0ULL, place)) return error;
  const std::shared_ptr<CUgraphExec_st> kept(
      made, [place](cudaGraphExec_t each) { cudaGraphExecDestroy(each, place); });
  return add(
      to, [=](cudaStream_t stream) { cudaGraphLaunch(kept.get(), stream, place); },
      cudaGraphNodeTypeGraph);
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, std::size_t count, Place place) {
  for (std::size_t i = 0; i < count; ++i) {
    if (graph == nullptr || from[i] == nullptr || to[i] == nullptr)
      return refuse(cudaErrorInvalidValue, place, "cudaGraphAddDependencies: a null pointer",
                    "give it two nodes");
    to[i]->after.push_back(from[i]);
  }
  return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count,
                              Place place) {
  if (const auto error = require_target(count, "cudaGraphGetNodes", place)) return error;
  if (graph == nullptr)
    return refuse(cudaErrorInvalidValue, place, "there is no graph",
                  "cudaGraphCreate, or cudaStreamEndCapture");
  for (std::size_t i = 0; nodes != nullptr && i < *count; ++i)
    nodes[i] = i < graph->nodes.size() ? graph->nodes[i].get() : nullptr;
  *count =
      nodes == nullptr ? graph->nodes.size() : std::min<std::size_t>(*count, graph->nodes.size());
  return cudaSuccess;
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type, Place place) {
  if (const auto error = require_target(type, "cudaGraphNodeGetType", place)) return error;
  if (node == nullptr)
    return refuse(cudaErrorInvalidValue, place, "there is no node", "cudaGraphAddKernelNode");
  *type = node->type;
  return cudaSuccess;
}
