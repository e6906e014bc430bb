// What streams and events are. Private to the run-time.
#pragma once

#include <chrono>
#include <vector>

#include "streams.hpp"

struct CUgraphNode_st;

struct CUstream_st {
  unsigned flags = 0;
  int number = 0;                          ///< of Streams
  struct CUgraph_st* graph = nullptr;      ///< into which it captures
  std::vector<CUgraphNode_st*> last = {};  ///< what its next node comes after
};

struct CUevent_st {
  bool is_recorded = false;
  std::chrono::steady_clock::time_point when = {};
  tessera::plain_cuda::StreamClock clock = {};
  struct CUgraph_st* graph = nullptr;      ///< of the capture in which it was recorded
  std::vector<CUgraphNode_st*> last = {};  ///< what it stands for there
};
