// What streams and events are. Private to the run-time.
#pragma once

#include <chrono>

#include "streams.hpp"

struct CUstream_st {
  unsigned flags = 0;
  int number = 0;                      ///< of Streams
  struct CUgraph_st* graph = nullptr;  ///< into which it captures
};

struct CUevent_st {
  bool is_recorded = false;
  std::chrono::steady_clock::time_point when = {};
  tessera::plain_cuda::StreamClock clock = {};
  struct CUgraph_st* graph = nullptr;  ///< of the capture in which it was recorded
};
