// Captures the work of streams, and runs graphs when they are launched: see parts/graphs.h. Nodes
// run one after the other. Work that a device could do concurrently is on different streams of
// Streams: dependent nodes form a chain, and each chain has a stream.
#include "graphs.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "handles.hpp"
#include "program.hpp"
#include "tessera/plain_cuda/parts/runtime_api.h"

using tessera::plain_cuda::Place;
using tessera::plain_cuda::Program;
using tessera::plain_cuda::StreamClock;
using tessera::plain_cuda::Streams;
using tessera::plain_cuda::StreamWork;

struct CUgraphExec_st {
  struct Step {
    StreamWork work;
    std::vector<std::size_t> after;  ///< steps before this one
    std::size_t chain;
  };
  std::vector<Step> steps;
  std::vector<std::unique_ptr<CUstream_st>> chains;  ///< empty: there is one, the launch's stream
  StreamClock ended = {};                            ///< launches of one graph are ordered

  void launch(cudaStream_t stream);
};

namespace tessera::plain_cuda {

namespace {

std::vector<const CUgraph_st*>& captures() {
  static auto* const all = new std::vector<const CUgraph_st*>;
  return *all;
}

void add_once(std::vector<CUgraphNode_st*>& all, const std::vector<CUgraphNode_st*>& more) {
  for (CUgraphNode_st* const each : more)
    if (std::find(all.begin(), all.end(), each) == all.end()) all.push_back(each);
}

/// Each node after its dependencies, otherwise in the order in which they were added; fewer than
/// all if there is a cycle.
std::vector<const CUgraphNode_st*> in_order(const CUgraph_st& graph) {
  std::vector<const CUgraphNode_st*> out;
  std::set<const CUgraphNode_st*> done;
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (const auto& node : graph.nodes) {
      const bool is_ready =
          std::all_of(node->after.begin(), node->after.end(),
                      [&](const CUgraphNode_st* each) { return done.count(each) != 0; });
      if (!is_ready || !done.insert(node.get()).second) continue;
      out.push_back(node.get());
      goes_on = true;
    }
  }
  return out;
}

/// Does every node precede the stream's next work?
bool is_joined(const CUgraph_st& graph, const CUstream_st& first) {
  std::set<const CUgraphNode_st*> met(first.last.begin(), first.last.end());
  std::vector<const CUgraphNode_st*> open(met.begin(), met.end());
  while (!open.empty()) {
    const CUgraphNode_st* const node = open.back();
    open.pop_back();
    for (const CUgraphNode_st* const each : node->after)
      if (met.insert(each).second) open.push_back(each);
  }
  return met.size() == graph.nodes.size();
}

}  // namespace

CUgraph_st* capture_of(cudaStream_t stream) {
  const bool is_default =
      stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
  return is_default ? nullptr : stream->graph;
}

bool is_captured(cudaStream_t stream, const StreamWork& work, cudaGraphNodeType type) {
  CUgraph_st* const graph = capture_of(stream);
  if (graph == nullptr) return false;
  stream->last = {graph->add(work, type, stream->last)};
  return true;
}

void wait_in_capture(cudaStream_t stream, const CUevent_st& event) {
  const auto& all = captures();
  if (std::find(all.begin(), all.end(), event.graph) == all.end()) return;
  if (capture_of(stream) != event.graph) {
    stream->graph = event.graph;
    event.graph->streams.push_back(stream);
  }
  add_once(stream->last, event.last);
}

}  // namespace tessera::plain_cuda

using namespace tessera::plain_cuda;

CUgraphNode_st* CUgraph_st::add(StreamWork work, cudaGraphNodeType type,
                                std::vector<CUgraphNode_st*> after) {
  nodes.push_back(
      std::make_unique<CUgraphNode_st>(CUgraphNode_st{std::move(work), type, std::move(after)}));
  return nodes.back().get();
}

void CUgraphExec_st::launch(cudaStream_t stream) {
  Streams& streams = Streams::get();
  streams.wait(stream, ended);
  const StreamClock begun = streams.record(stream);
  for (const auto& each : chains) streams.wait(each.get(), begun);
  std::vector<StreamClock> clocks;
  for (const Step& step : steps) {
    const cudaStream_t chain = chains.empty() ? stream : chains[step.chain].get();
    if (!chains.empty())
      for (const std::size_t each : step.after) streams.wait(chain, clocks[each]);
    step.work(chain);
    clocks.push_back(streams.record(chain));
  }
  for (const auto& each : chains) streams.wait(stream, streams.record(each.get()));
  ended = streams.record(stream);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode, Place place) {
  if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread)
    return refuse(cudaErrorInvalidValue, place, "the default stream cannot capture",
                  "capture on a stream of your own");
  if (stream->graph != nullptr)
    return refuse(cudaErrorInvalidValue, place, "the stream captures already",
                  "end the first capture before");
  stream->graph = new CUgraph_st{.streams = {stream}, .first = stream};
  stream->last.clear();
  captures().push_back(stream->graph);
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph, Place place) {
  if (const auto error = require_target(graph, "cudaStreamEndCapture", place)) return error;
  CUgraph_st* const captured = capture_of(stream);
  if (captured == nullptr || captured->first != stream)
    return refuse(cudaErrorInvalidValue, place, "no capture has begun on this stream",
                  "cudaStreamBeginCapture");
  const bool is_whole = is_joined(*captured, *stream);
  for (const cudaStream_t each : captured->streams) each->graph = nullptr, each->last.clear();
  captured->streams.clear();
  std::erase(captures(), captured);
  *graph = is_whole ? captured : nullptr;
  if (is_whole) return cudaSuccess;
  delete captured;
  return refuse(cudaErrorStreamCaptureUnjoined, place,
                "the capture has work on another stream that this one does not wait for",
                "cudaEventRecord on the other stream, and cudaStreamWaitEvent on this one before");
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                  Place place) {
  if (const auto error = require_target(status, "cudaStreamIsCapturing", place)) return error;
  *status =
      capture_of(stream) != nullptr ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph, unsigned long long,
                                 Place place) {
  if (const auto error = require_target(made, "cudaGraphInstantiate", place)) return error;
  if (graph == nullptr)
    return refuse(cudaErrorInvalidValue, place, "there is no graph",
                  "cudaGraphCreate, or cudaStreamEndCapture");
  const std::vector<const CUgraphNode_st*> nodes = in_order(*graph);
  if (nodes.size() < graph->nodes.size())
    return refuse(cudaErrorInvalidValue, place, "nodes of the graph wait for one another",
                  "take a dependency away");
  auto exec = std::make_unique<CUgraphExec_st>();
  std::map<const CUgraphNode_st*, std::size_t> step_of;
  std::vector<std::size_t> last;  // step of each chain
  for (const CUgraphNode_st* const node : nodes) {
    CUgraphExec_st::Step step{node->work, {}, last.size()};
    for (const CUgraphNode_st* const each : node->after) {
      step.after.push_back(step_of.at(each));
      const std::size_t chain = exec->steps[step.after.back()].chain;
      if (last[chain] == step.after.back()) step.chain = chain;
    }
    if (step.chain == last.size()) last.push_back(0);
    last[step.chain] = step_of[node] = exec->steps.size();
    exec->steps.push_back(std::move(step));
  }
  for (std::size_t i = 0; last.size() > 1 && i < last.size(); ++i) {
    exec->chains.push_back(std::make_unique<CUstream_st>());
    exec->chains.back()->number = Streams::get().create(false);
  }
  *made = exec.release();
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream, Place place) {
  if (graph == nullptr)
    return refuse(cudaErrorInvalidValue, place, "no graph was made", "cudaGraphInstantiate");
  if (const auto error = require_stream("cudaGraphLaunch", stream, place)) return error;
  graph->launch(stream);
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
