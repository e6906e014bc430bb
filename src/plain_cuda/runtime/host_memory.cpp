// Memory of the host that the program has registered, and what pointers lead to.
#include "context.hpp"
#include "heap.hpp"
#include "memory.hpp"
#include "program.hpp"
#include "tessera/core/text.hpp"
#include "tessera/plain_cuda/parts/runtime_api.h"

using namespace tessera::plain_cuda;
using tessera::cat;

cudaError_t cudaHostRegister(void* at, std::size_t bytes, unsigned, Place place) {
  DeviceMemory& memory = DeviceMemory::get();
  if (at == nullptr || bytes == 0 || memory.contains(at))
    return refuse(cudaErrorInvalidValue, place,
                  cat("cudaHostRegister: ", at == nullptr ? "a null pointer"
                                            : bytes == 0  ? "no bytes"
                                                          : "memory of the CUDA runtime"),
                  "register memory that malloc or new gave");
  if (const std::uint64_t end = end_on_host(number(at)); end != 0 && number(at) + bytes > end)
    return refuse(cudaErrorInvalidValue, place,
                  cat("cudaHostRegister: ", bytes, " bytes, and the memory has ", end - number(at)),
                  "check the size: it is counted in bytes, not in elements");
  if (!memory.add_host(number(at), bytes, here_of(place)))
    return refuse(cudaErrorHostMemoryAlreadyRegistered, place,
                  "cudaHostRegister: a part of the memory is registered already",
                  "register it once, or cudaHostUnregister it before");
  return cudaSuccess;
}
cudaError_t cudaHostUnregister(void* at, Place place) {
  if (DeviceMemory::get().drop_host(number(at))) return cudaSuccess;
  return refuse(cudaErrorHostMemoryNotRegistered, place,
                "cudaHostUnregister: a pointer that was not registered",
                "give it the pointer that cudaHostRegister was given");
}
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned, Place place) {
  if (const auto error = require_target(device, "cudaHostGetDevicePointer", place)) return error;
  *device = host;
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* out, const void* at, Place place) {
  if (const auto error = require_target(out, "cudaPointerGetAttributes", place)) return error;
  const Allocation* const found = DeviceMemory::get().find(number(at));
  void* const same = const_cast<void*>(at);
  if (found == nullptr) *out = {cudaMemoryTypeUnregistered, cudaInvalidDeviceId, nullptr, same};
  else if (found->kind == MemoryKind::device) *out = {cudaMemoryTypeDevice, 0, same, nullptr};
  else if (found->kind == MemoryKind::managed) *out = {cudaMemoryTypeManaged, 0, same, same};
  else *out = {cudaMemoryTypeHost, 0, same, same};
  return cudaSuccess;
}
