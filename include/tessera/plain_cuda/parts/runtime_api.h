// The CUDA runtime's functions. Implemented in src/plain_cuda/runtime: memory_api.cpp, api.cpp.
// Streams are carried out at once, so every function has done its work when it returns.
#pragma once

#include <type_traits>
#include <utility>

#include "../driver_types.h"
#include "launch.h"
#include "launch_api.h"
#include "place.h"

#define CUDART_VERSION 13000

namespace tessera::plain_cuda {
/// The place of a call's result must not be null.
cudaError_t require_target(const void* at, const char* call, Place place);
/// What a pointer leads to.
struct Element {
  std::size_t bytes = 0;      ///< 0: unknown
  const void* tag = nullptr;  ///< of a class: an element_tag
};
cudaError_t allocate(void** at, std::size_t bytes, const Element& element, int kind, Place place);
enum { kDevice, kManaged, kPinned };
/// Between a variable of the device and other memory.
cudaError_t copy_symbol(bool writes, char* symbol, std::size_t offset, const void* other,
                        std::size_t bytes, Place place);
cudaError_t set_attribute(const void* kernel, cudaFuncAttribute attribute, int value, Place place);
cudaError_t launch_later(Place place, dim3 grid, dim3 block, std::size_t shared,
                         cudaStream_t stream);
int blocks_on_sm(int threads, std::size_t shared);
/// Copies may take its address from now on.
void note_symbol(const void* first, std::size_t bytes);
/// Of a symbol, whether it is const or volatile or not; a const void* leads to it.
template <class T>
char* first_byte(const T& symbol) {
  if constexpr (std::is_same_v<T, const void*>)
    return static_cast<char*>(const_cast<void*>(symbol));
  else return const_cast<char*>(reinterpret_cast<const volatile char*>(&symbol));
}
/// Of a pointer's address, whatever it points to: const or not.
inline void** as_void(void* at) { return static_cast<void**>(at); }
/// By its address the runtime finds T in the debug information.
template <class T>
inline T* element_tag = nullptr;
template <class T>
constexpr Element element_of() {
  if constexpr (std::is_void_v<T>) return {};
  else if constexpr (std::is_class_v<T> || std::is_union_v<T>) return {sizeof(T), &element_tag<T>};
  else return {sizeof(T)};
}
/// Of (void**)&p: the cast hides the type of p.
template <class P>
auto typed(P at) {
  using Pointer = std::remove_pointer_t<P>;
  if constexpr (std::is_pointer_v<P> && std::is_pointer_v<Pointer> && !std::is_const_v<Pointer> &&
                !std::is_volatile_v<Pointer>)
    return at;
  else return (void**)at;
}
}  // namespace tessera::plain_cuda

template <class T>
inline cudaError_t cudaMalloc(T** at, std::size_t bytes, TESSERA_PLACE) {
  return tessera::plain_cuda::allocate(tessera::plain_cuda::as_void(at), bytes,
                                       tessera::plain_cuda::element_of<T>(),
                                       tessera::plain_cuda::kDevice, place);
}
template <class T>
inline cudaError_t cudaMallocAsync(T** at, std::size_t bytes, cudaStream_t, TESSERA_PLACE) {
  return cudaMalloc(at, bytes, place);
}
template <class T>
inline cudaError_t cudaMallocManaged(T** at, std::size_t bytes, unsigned = cudaMemAttachGlobal,
                                     TESSERA_PLACE) {
  return tessera::plain_cuda::allocate(tessera::plain_cuda::as_void(at), bytes,
                                       tessera::plain_cuda::element_of<T>(),
                                       tessera::plain_cuda::kManaged, place);
}
template <class T>
inline cudaError_t cudaMallocHost(T** at, std::size_t bytes, unsigned = 0, TESSERA_PLACE) {
  return tessera::plain_cuda::allocate(tessera::plain_cuda::as_void(at), bytes,
                                       tessera::plain_cuda::element_of<T>(),
                                       tessera::plain_cuda::kPinned, place);
}
template <class T>
inline cudaError_t cudaHostAlloc(T** at, std::size_t bytes, unsigned, TESSERA_PLACE) {
  return cudaMallocHost(at, bytes, 0, place);
}
cudaError_t cudaMallocPitch(void** at, std::size_t* pitch, std::size_t width, std::size_t height,
                            TESSERA_PLACE);
template <class T>
inline cudaError_t cudaMallocPitch(T** at, std::size_t* pitch, std::size_t width,
                                   std::size_t height, TESSERA_PLACE) {
  return cudaMallocPitch(tessera::plain_cuda::as_void(at), pitch, width, height, place);
}
cudaError_t cudaMalloc3D(cudaPitchedPtr* at, cudaExtent extent, TESSERA_PLACE);
cudaError_t cudaFree(void* at, TESSERA_PLACE);
cudaError_t cudaFreeAsync(void* at, cudaStream_t stream, TESSERA_PLACE);
cudaError_t cudaFreeHost(void* at, TESSERA_PLACE);
cudaError_t cudaHostRegister(void* at, std::size_t bytes, unsigned flags, TESSERA_PLACE);
cudaError_t cudaHostUnregister(void* at, TESSERA_PLACE);
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags, TESSERA_PLACE);
template <class T>
inline cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned flags, TESSERA_PLACE) {
  return cudaHostGetDevicePointer(tessera::plain_cuda::as_void(device), host, flags, place);
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* out, const void* at, TESSERA_PLACE);

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                       TESSERA_PLACE);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr, TESSERA_PLACE);
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind, TESSERA_PLACE);
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream = nullptr, TESSERA_PLACE);
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* how, TESSERA_PLACE);
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* how, cudaStream_t stream = nullptr,
                              TESSERA_PLACE);
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           std::size_t bytes, TESSERA_PLACE);
cudaError_t cudaMemset(void* at, int value, std::size_t bytes, TESSERA_PLACE);
cudaError_t cudaMemsetAsync(void* at, int value, std::size_t bytes, cudaStream_t stream = nullptr,
                            TESSERA_PLACE);
cudaError_t cudaMemset2D(void* at, std::size_t pitch, int value, std::size_t width,
                         std::size_t height, TESSERA_PLACE);
cudaError_t cudaMemset2DAsync(void* at, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream = nullptr, TESSERA_PLACE);
cudaError_t cudaMemset3D(cudaPitchedPtr at, int value, cudaExtent extent, TESSERA_PLACE);
cudaError_t cudaMemset3DAsync(cudaPitchedPtr at, int value, cudaExtent extent,
                              cudaStream_t stream = nullptr, TESSERA_PLACE);
cudaError_t cudaMemPrefetchAsync(const void* at, std::size_t bytes, int device,
                                 cudaStream_t stream = nullptr, TESSERA_PLACE);
cudaError_t cudaMemAdvise(const void* at, std::size_t bytes, cudaMemoryAdvise advice, int device,
                          TESSERA_PLACE);
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total, TESSERA_PLACE);

template <class T>
inline cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, std::size_t bytes,
                                      std::size_t offset = 0,
                                      cudaMemcpyKind = cudaMemcpyHostToDevice, TESSERA_PLACE) {
  return tessera::plain_cuda::copy_symbol(true, tessera::plain_cuda::first_byte(symbol), offset,
                                          from, bytes, place);
}
template <class T>
inline cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, std::size_t bytes,
                                           std::size_t offset, cudaMemcpyKind kind,
                                           cudaStream_t = nullptr, TESSERA_PLACE) {
  return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind, place);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, std::size_t bytes,
                                        std::size_t offset = 0,
                                        cudaMemcpyKind = cudaMemcpyDeviceToHost, TESSERA_PLACE) {
  return tessera::plain_cuda::copy_symbol(false, tessera::plain_cuda::first_byte(symbol), offset,
                                          to, bytes, place);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, std::size_t bytes,
                                             std::size_t offset, cudaMemcpyKind kind,
                                             cudaStream_t = nullptr, TESSERA_PLACE) {
  return cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind, place);
}
template <class P, class T>
inline cudaError_t cudaGetSymbolAddress(P** at, const T& symbol, TESSERA_PLACE) {
  if (const auto error = tessera::plain_cuda::require_target(at, "cudaGetSymbolAddress", place))
    return error;
  char* const first = tessera::plain_cuda::first_byte(symbol);
  tessera::plain_cuda::note_symbol(first, sizeof symbol);
  *at = reinterpret_cast<P*>(first);
  return cudaSuccess;
}
template <class T>
inline cudaError_t cudaGetSymbolSize(std::size_t* bytes, const T&, TESSERA_PLACE) {
  if (const auto error = tessera::plain_cuda::require_target(bytes, "cudaGetSymbolSize", place))
    return error;
  *bytes = sizeof(T);
  return cudaSuccess;
}

cudaError_t cudaGetLastError(TESSERA_PLACE);
cudaError_t cudaPeekAtLastError(TESSERA_PLACE);
const char* cudaGetErrorString(cudaError_t error);
const char* cudaGetErrorName(cudaError_t error);
cudaError_t cudaDeviceSynchronize(TESSERA_PLACE);
cudaError_t cudaThreadSynchronize(TESSERA_PLACE);
cudaError_t cudaDeviceReset(TESSERA_PLACE);
cudaError_t cudaSetDevice(int device, TESSERA_PLACE);
cudaError_t cudaGetDevice(int* device, TESSERA_PLACE);
cudaError_t cudaGetDeviceCount(int* count, TESSERA_PLACE);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* out, int device, TESSERA_PLACE);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device, TESSERA_PLACE);
cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value, TESSERA_PLACE);
cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit, TESSERA_PLACE);
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config, TESSERA_PLACE);
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config, TESSERA_PLACE);
cudaError_t cudaSetDeviceFlags(unsigned flags, TESSERA_PLACE);
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer, TESSERA_PLACE);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags, TESSERA_PLACE);
cudaError_t cudaDriverGetVersion(int* version, TESSERA_PLACE);
cudaError_t cudaRuntimeGetVersion(int* version, TESSERA_PLACE);
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted, TESSERA_PLACE);

cudaError_t cudaStreamCreate(cudaStream_t* stream, TESSERA_PLACE);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags, TESSERA_PLACE);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority,
                                         TESSERA_PLACE);
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest, TESSERA_PLACE);
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority, TESSERA_PLACE);
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags, TESSERA_PLACE);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data,
                               TESSERA_PLACE);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned flags, TESSERA_PLACE);
cudaError_t cudaStreamDestroy(cudaStream_t stream, TESSERA_PLACE);
cudaError_t cudaStreamSynchronize(cudaStream_t stream, TESSERA_PLACE);
cudaError_t cudaStreamQuery(cudaStream_t stream, TESSERA_PLACE);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0,
                                TESSERA_PLACE);
cudaError_t cudaEventCreate(cudaEvent_t* event, TESSERA_PLACE);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags, TESSERA_PLACE);
cudaError_t cudaEventDestroy(cudaEvent_t event, TESSERA_PLACE);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr, TESSERA_PLACE);
cudaError_t cudaEventSynchronize(cudaEvent_t event, TESSERA_PLACE);
cudaError_t cudaEventQuery(cudaEvent_t event, TESSERA_PLACE);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end,
                                 TESSERA_PLACE);

template <class F>
inline cudaError_t cudaFuncSetAttribute(F* kernel, cudaFuncAttribute attribute, int value,
                                        TESSERA_PLACE) {
  return tessera::plain_cuda::set_attribute(reinterpret_cast<const void*>(kernel), attribute, value,
                                            place);
}
template <class F>
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* out, F*, TESSERA_PLACE) {
  if (const auto error = tessera::plain_cuda::require_target(out, "cudaFuncGetAttributes", place))
    return error;
  *out = {};
  return cudaSuccess;
}
template <class F>
inline cudaError_t cudaFuncSetCacheConfig(F*, cudaFuncCache) {
  return cudaSuccess;
}
template <class F>
inline cudaError_t cudaFuncSetSharedMemConfig(F*, cudaSharedMemConfig) {
  return cudaSuccess;
}
