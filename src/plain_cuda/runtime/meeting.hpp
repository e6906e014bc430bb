// How calls of a thread let others of its block run, and what warps exchange. Private to the
// runtime.
#pragma once

#include <string>

#include "context.hpp"
#include "tessera/plain_cuda/driver_types.h"

namespace tessera::plain_cuda {

/// Ends the kernel, after which the device has this error.
[[noreturn]] void end_kernel(cudaError_t error, const std::string& problem,
                             const std::string& advice, Place place);

/// The running thread; throws on the host. `what`: the call.
ThreadContext& me(const char* what, const Place& place);

/// During its lifetime, other threads may run, and code that runs here is the runtime's own.
class LetOthersRun {
 public:
  explicit LetOthersRun(ThreadContext& mine) : mine_(mine) {
    settle();
    current = nullptr;
  }
  ~LetOthersRun() {
    current = &mine_;
    if (mine_.block.memory != nullptr) mine_.block.memory->bring(mine_.block.rank);
  }
  LetOthersRun(const LetOthersRun&) = delete;
  LetOthersRun& operator=(const LetOthersRun&) = delete;

 private:
  ThreadContext& mine_;
};

/// Loads and stores by the runtime, recorded like those of the program. May throw Abandon.
void load_told(void* to, const void* at, std::size_t bytes, Here here);
void store_told(void* at, const void* from, std::size_t bytes, Here here);

}  // namespace tessera::plain_cuda
