// Calls of the CUDA runtime that say something about the one device, or advise it: pools of
// memory, occupancy, peers, policies of streams. Advice has no effect on results, so it has none
// here.
#pragma once

#include <cstdint>
#include <cstdio>

#include "runtime_api.h"

// ---- pools of memory: one, with the device's memory ----

enum cudaMemPoolAttr {
  cudaMemPoolReuseFollowEventDependencies = 1,
  cudaMemPoolReuseAllowOpportunistic = 2,
  cudaMemPoolReuseAllowInternalDependencies = 3,
  cudaMemPoolAttrReleaseThreshold = 4,
  cudaMemPoolAttrReservedMemCurrent = 5,
  cudaMemPoolAttrReservedMemHigh = 6,
  cudaMemPoolAttrUsedMemCurrent = 7,
  cudaMemPoolAttrUsedMemHigh = 8
};
enum cudaMemAllocationType { cudaMemAllocationTypeInvalid = 0, cudaMemAllocationTypePinned = 1 };
enum cudaMemAllocationHandleType {
  cudaMemHandleTypeNone = 0,
  cudaMemHandleTypePosixFileDescriptor = 1
};
enum cudaMemLocationType {
  cudaMemLocationTypeInvalid = 0,
  cudaMemLocationTypeNone = 0,
  cudaMemLocationTypeDevice = 1,
  cudaMemLocationTypeHost = 2,
  cudaMemLocationTypeHostNuma = 3,
  cudaMemLocationTypeHostNumaCurrent = 4
};
enum cudaMemAccessFlags {
  cudaMemAccessFlagsProtNone = 0,
  cudaMemAccessFlagsProtRead = 1,
  cudaMemAccessFlagsProtReadWrite = 3
};
struct cudaMemLocation {
  cudaMemLocationType type;
  int id;
};
struct cudaMemAccessDesc {
  cudaMemLocation location;
  cudaMemAccessFlags flags;
};
struct cudaMemPoolProps {
  cudaMemAllocationType allocType;
  cudaMemAllocationHandleType handleTypes;
  cudaMemLocation location;
  void* win32SecurityAttributes;
  std::size_t maxSize;
  unsigned short usage;
  unsigned char reserved[54];
};
struct CUmemPool_st {
  std::uint64_t values[9] = {0, 1, 1, 1};
};
using cudaMemPool_t = CUmemPool_st*;

namespace tessera::plain_cuda {
inline CUmemPool_st pool_of_device;
inline cudaMemPool_t pool_now = &pool_of_device;
inline cudaError_t known_pool(cudaMemPool_t pool) {
  return pool != nullptr ? cudaSuccess : cudaErrorInvalidValue;
}
}  // namespace tessera::plain_cuda

inline cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int, TESSERA_PLACE) {
  if (const auto error =
          tessera::plain_cuda::require_target(pool, "cudaDeviceGetDefaultMemPool", place))
    return error;
  *pool = &tessera::plain_cuda::pool_of_device;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int, TESSERA_PLACE) {
  if (const auto error = tessera::plain_cuda::require_target(pool, "cudaDeviceGetMemPool", place))
    return error;
  *pool = tessera::plain_cuda::pool_now;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceSetMemPool(int, cudaMemPool_t pool) {
  if (pool != nullptr) tessera::plain_cuda::pool_now = pool;
  return tessera::plain_cuda::known_pool(pool);
}
inline cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps*, TESSERA_PLACE) {
  if (const auto error = tessera::plain_cuda::require_target(pool, "cudaMemPoolCreate", place))
    return error;
  *pool = new CUmemPool_st;
  return cudaSuccess;
}
inline cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  using namespace tessera::plain_cuda;
  if (pool == pool_now) pool_now = &pool_of_device;
  if (pool != &pool_of_device) delete pool;
  return known_pool(pool);
}
inline cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t) {
  return tessera::plain_cuda::known_pool(pool);
}
inline cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc*, std::size_t) {
  return tessera::plain_cuda::known_pool(pool);
}
/// The values of the first three have 32 bits, those of the others 64.
inline cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr which, void* value,
                                           TESSERA_PLACE) {
  if (const auto error =
          tessera::plain_cuda::require_target(value, "cudaMemPoolSetAttribute", place))
    return error;
  if (pool == nullptr) return cudaErrorInvalidValue;
  if (which < cudaMemPoolAttrReleaseThreshold) pool->values[which] = *static_cast<int*>(value) != 0;
  else pool->values[which] = *static_cast<std::uint64_t*>(value);
  return cudaSuccess;
}
inline cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr which, void* value,
                                           TESSERA_PLACE) {
  if (const auto error =
          tessera::plain_cuda::require_target(value, "cudaMemPoolGetAttribute", place))
    return error;
  if (pool == nullptr) return cudaErrorInvalidValue;
  std::size_t free = 0, total = 0;
  cudaMemGetInfo(&free, &total);
  if (which < cudaMemPoolAttrReleaseThreshold)
    *static_cast<int*>(value) = static_cast<int>(pool->values[which]);
  else
    *static_cast<std::uint64_t*>(value) =
        which == cudaMemPoolAttrReleaseThreshold ? pool->values[which] : total - free;
  return cudaSuccess;
}
template <class T>
inline cudaError_t cudaMallocFromPoolAsync(T** at, std::size_t bytes, cudaMemPool_t, cudaStream_t,
                                           TESSERA_PLACE) {
  return cudaMalloc(at, bytes, place);
}
template <class T>
inline cudaError_t cudaMallocAsync(T** at, std::size_t bytes, cudaMemPool_t, cudaStream_t,
                                   TESSERA_PLACE) {
  return cudaMalloc(at, bytes, place);
}

// CUDA 13 names the place; before it was the number of a device.
inline cudaError_t cudaMemPrefetchAsync(const void* at, std::size_t bytes, cudaMemLocation to,
                                        unsigned, cudaStream_t stream = nullptr, TESSERA_PLACE) {
  return cudaMemPrefetchAsync(at, bytes, to.id, stream, place);
}
inline cudaError_t cudaMemAdvise(const void* at, std::size_t bytes, cudaMemoryAdvise advice,
                                 cudaMemLocation of, TESSERA_PLACE) {
  return cudaMemAdvise(at, bytes, advice, of.id, place);
}

// ---- occupancy ----

template <class F>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, F, int threads,
                                                                 std::size_t shared,
                                                                 TESSERA_PLACE) {
  if (const auto error = tessera::plain_cuda::require_target(
          blocks, "cudaOccupancyMaxActiveBlocksPerMultiprocessor", place))
    return error;
  *blocks = tessera::plain_cuda::blocks_on_sm(threads, shared);
  return cudaSuccess;
}
template <class F>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, F kernel,
                                                                          int threads,
                                                                          std::size_t shared,
                                                                          unsigned, TESSERA_PLACE) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, threads, shared, place);
}
/// `shared_of(threads)`: the dynamic shared memory of a block with so many.
template <class F, class Shared>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block, F,
                                                                  Shared shared_of, int limit = 0,
                                                                  TESSERA_PLACE) {
  if (const auto error = tessera::plain_cuda::require_target(
          grid, "cudaOccupancyMaxPotentialBlockSizeVariableSMem", place))
    return error;
  if (const auto error = tessera::plain_cuda::require_target(
          block, "cudaOccupancyMaxPotentialBlockSizeVariableSMem", place))
    return error;
  *block = limit > 0 && limit < 1024 ? limit : 1024;
  int sms = 0;
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
  *grid = sms * tessera::plain_cuda::blocks_on_sm(*block, shared_of(*block));
  return cudaSuccess;
}
template <class F>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, F kernel,
                                                      std::size_t shared = 0, int limit = 0,
                                                      TESSERA_PLACE) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
      grid, block, kernel, [=](int) { return shared; }, limit, place);
}
template <class F>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, F kernel,
                                                               std::size_t shared = 0,
                                                               int limit = 0, unsigned = 0,
                                                               TESSERA_PLACE) {
  return cudaOccupancyMaxPotentialBlockSize(grid, block, kernel, shared, limit, place);
}
template <class F>
inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, F, int blocks, int,
                                                             TESSERA_PLACE) {
  if (const auto error = tessera::plain_cuda::require_target(
          bytes, "cudaOccupancyAvailableDynamicSMemPerBlock", place))
    return error;
  int all = 0, most = 0;
  cudaDeviceGetAttribute(&all, cudaDevAttrMaxSharedMemoryPerMultiprocessor, 0);
  cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
  if (blocks < 1) return cudaErrorInvalidValue;
  *bytes = static_cast<std::size_t>(all / blocks < most ? all / blocks : most);
  return cudaSuccess;
}

// ---- peers, devices by other names ----

enum cudaDeviceP2PAttr {
  cudaDevP2PAttrPerformanceRank = 1,
  cudaDevP2PAttrAccessSupported = 2,
  cudaDevP2PAttrNativeAtomicSupported = 3,
  cudaDevP2PAttrCudaArrayAccessSupported = 4
};
inline cudaError_t cudaDeviceDisablePeerAccess(int) { return cudaErrorInvalidDevice; }
inline cudaError_t cudaDeviceGetP2PAttribute(int*, cudaDeviceP2PAttr, int, int) {
  return cudaErrorInvalidDevice;  // it needs two devices
}
inline cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t bytes,
                                       cudaStream_t stream = nullptr, TESSERA_PLACE) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream, place);
}
inline cudaError_t cudaDeviceGetPCIBusId(char* name, int length, int device, TESSERA_PLACE) {
  if (const auto error = tessera::plain_cuda::require_target(name, "cudaDeviceGetPCIBusId", place))
    return error;
  if (device != 0 || length < 13) return cudaErrorInvalidValue;
  std::snprintf(name, static_cast<std::size_t>(length), "0000:01:00.0");
  return cudaSuccess;
}
inline cudaError_t cudaInitDevice(int device, unsigned, unsigned, TESSERA_PLACE) {
  return cudaSetDevice(device, place);
}
inline cudaError_t cudaGetDeviceFlags(unsigned* flags, TESSERA_PLACE) {
  if (const auto error = tessera::plain_cuda::require_target(flags, "cudaGetDeviceFlags", place))
    return error;
  *flags = 0;
  return cudaSuccess;
}
inline cudaError_t cudaThreadExit(TESSERA_PLACE) { return cudaDeviceReset(place); }

// ---- advice ----

enum cudaAccessProperty {
  cudaAccessPropertyNormal = 0,
  cudaAccessPropertyStreaming = 1,
  cudaAccessPropertyPersisting = 2
};
struct cudaAccessPolicyWindow {
  void* base_ptr;
  std::size_t num_bytes;
  float hitRatio;
  cudaAccessProperty hitProp, missProp;
};
enum cudaStreamAttrID {
  cudaStreamAttributeAccessPolicyWindow = 1,
  cudaStreamAttributeSynchronizationPolicy = 3,
  cudaStreamAttributePriority = 8
};
union cudaStreamAttrValue {
  char pad[64];
  cudaAccessPolicyWindow accessPolicyWindow;
  int syncPolicy, priority;
};
inline cudaError_t cudaStreamSetAttribute(cudaStream_t, cudaStreamAttrID,
                                          const cudaStreamAttrValue*) {
  return cudaSuccess;
}
inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void*, std::size_t = 0, unsigned = 4) {
  return cudaSuccess;
}
inline cudaError_t cudaCtxResetPersistingL2Cache() { return cudaSuccess; }
inline cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = nullptr,
                                            unsigned = 0, TESSERA_PLACE) {
  return cudaEventRecord(event, stream, place);
}
inline cudaError_t cudaProfilerStart() { return cudaSuccess; }
inline cudaError_t cudaProfilerStop() { return cudaSuccess; }
