// Copies and fills that all calls of the runtime are made of. Private to the runtime.
#pragma once

#include <cstddef>

#include "tessera/plain_cuda/driver_types.h"
#include "tessera/plain_cuda/parts/place.h"

namespace tessera::plain_cuda {

/// Rows of `width` bytes. `call`: for messages.
struct Rows {
  const void* begin;
  std::size_t pitch;
};
cudaError_t copy_rows(const char* call, const Rows& to, const Rows& from, std::size_t width,
                      std::size_t height, cudaMemcpyKind kind, cudaStream_t stream,
                      const Place& place);
/// Has the program requested the address of the variable of the device?
bool is_symbol(const void* at);
/// Refuses an operand of a copy or a fill that its direction excludes, or that is too small.
cudaError_t check_side(const char* call, const char* side, const void* at, std::size_t bytes,
                       bool to_be_device, bool to_be_host, const Place& place);
/// Reports a copy from unwritten memory.
void judge_source(const char* call, const void* from, std::size_t bytes, const Place& place);
/// For a call that returns when the copy is complete.
cudaError_t waited_for(cudaError_t copied);
/// Frees an allocation; `is_host`: one of cudaMallocHost.
cudaError_t give_back(const char* call, void* at, bool is_host, const Place& place);

}  // namespace tessera::plain_cuda
