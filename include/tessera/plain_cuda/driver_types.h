// Types of the CUDA runtime's interface: errors, directions of copies, properties of a device.
#pragma once

#define __DRIVER_TYPES_H__  // what CUDA's samples ask for before they define checkCudaErrors()

#include <climits>
#include <cstddef>

#include "vector_types.h"

// Name, number, text: CUDA Runtime API, "Data types used by CUDA Runtime".
// clang-format off
#define TESSERA_CUDA_ERRORS(error) \
  error(cudaSuccess, 0, "no error") \
  error(cudaErrorInvalidValue, 1, "invalid argument") \
  error(cudaErrorMemoryAllocation, 2, "out of memory") \
  error(cudaErrorInitializationError, 3, "initialization error") \
  error(cudaErrorCudartUnloading, 4, "driver shutting down") \
  error(cudaErrorInvalidConfiguration, 9, "invalid configuration argument") \
  error(cudaErrorInvalidPitchValue, 12, "invalid pitch argument") \
  error(cudaErrorInvalidSymbol, 13, "invalid device symbol") \
  error(cudaErrorInvalidDevicePointer, 17, "invalid device pointer") \
  error(cudaErrorInvalidTexture, 18, "invalid texture reference") \
  error(cudaErrorInvalidChannelDescriptor, 20, "invalid channel descriptor") \
  error(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy") \
  error(cudaErrorInvalidFilterSetting, 26, "linear filtering not supported for non-float type") \
  error(cudaErrorInvalidNormSetting, 27, "read as normalized float not supported for 32-bit non float type") \
  error(cudaErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version") \
  error(cudaErrorInvalidDeviceFunction, 98, "invalid device function") \
  error(cudaErrorNoDevice, 100, "no CUDA-capable device is detected") \
  error(cudaErrorInvalidDevice, 101, "invalid device ordinal") \
  error(cudaErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device") \
  error(cudaErrorECCUncorrectable, 214, "uncorrectable ECC error encountered") \
  error(cudaErrorInvalidPtx, 218, "a PTX JIT compilation failed") \
  error(cudaErrorInvalidResourceHandle, 400, "invalid resource handle") \
  error(cudaErrorNotReady, 600, "device not ready") \
  error(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered") \
  error(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch") \
  error(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated") \
  error(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled") \
  error(cudaErrorPeerAccessNotEnabled, 705, "peer access has not been enabled") \
  error(cudaErrorAssert, 710, "device-side assert triggered") \
  error(cudaErrorHostMemoryAlreadyRegistered, 712, "part or all of the requested memory range is already mapped") \
  error(cudaErrorHostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region") \
  error(cudaErrorHardwareStackError, 714, "hardware stack error") \
  error(cudaErrorIllegalInstruction, 715, "an illegal instruction was encountered") \
  error(cudaErrorMisalignedAddress, 716, "misaligned address") \
  error(cudaErrorInvalidAddressSpace, 717, "operation not supported on global/shared address space") \
  error(cudaErrorInvalidPc, 718, "invalid program counter") \
  error(cudaErrorLaunchFailure, 719, "unspecified launch failure") \
  error(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch") \
  error(cudaErrorNotSupported, 801, "operation not supported") \
  error(cudaErrorStreamCaptureUnjoined, 904, "a capture was not joined") \
  error(cudaErrorInvalidClusterSize, 912, "invalid cluster size") \
  error(cudaErrorUnknown, 999, "unknown error")
// clang-format on

#define TESSERA_ENUMERATE(name, number, text) name = number,
enum cudaError { TESSERA_CUDA_ERRORS(TESSERA_ENUMERATE) };
#undef TESSERA_ENUMERATE
using cudaError_t = cudaError;

enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};

struct cudaPos {
  std::size_t x, y, z;  ///< x in bytes
};
struct cudaExtent {
  std::size_t width, height, depth;  ///< the width in bytes, or elements of an array
};
struct cudaPitchedPtr {
  void* ptr;
  std::size_t pitch;         ///< bytes from row to row
  std::size_t xsize, ysize;  ///< of which a row has xsize, a plane ysize rows
};
using cudaArray_t = struct cudaArray*;
struct cudaMemcpy3DParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  cudaExtent extent;
  cudaMemcpyKind kind;
};
inline cudaPos make_cudaPos(std::size_t x, std::size_t y, std::size_t z) { return {x, y, z}; }
inline cudaExtent make_cudaExtent(std::size_t width, std::size_t height, std::size_t depth) {
  return {width, height, depth};
}
inline cudaPitchedPtr make_cudaPitchedPtr(void* at, std::size_t pitch, std::size_t xsize,
                                          std::size_t ysize) {
  return {at, pitch, xsize, ysize};
}

struct CUstream_st;
struct CUevent_st;
using cudaStream_t = CUstream_st*;
using cudaEvent_t = CUevent_st*;
using cudaHostFn_t = void (*)(void* data);
using cudaStreamCallback_t = void (*)(cudaStream_t stream, cudaError_t status, void* data);
#define cudaStreamLegacy (reinterpret_cast<cudaStream_t>(1))
#define cudaStreamPerThread (reinterpret_cast<cudaStream_t>(2))

enum {
  cudaStreamDefault = 0,
  cudaStreamNonBlocking = 1,
  cudaEventDefault = 0,
  cudaEventBlockingSync = 1,
  cudaEventDisableTiming = 2,
  cudaHostAllocDefault = 0,
  cudaHostAllocPortable = 1,
  cudaHostAllocMapped = 2,
  cudaHostAllocWriteCombined = 4,
  cudaHostRegisterDefault = 0,
  cudaHostRegisterPortable = 1,
  cudaHostRegisterMapped = 2,
  cudaMemAttachGlobal = 1,
  cudaMemAttachHost = 2,
  cudaDeviceScheduleAuto = 0,
  cudaDeviceScheduleSpin = 1,
  cudaDeviceScheduleYield = 2,
  cudaDeviceScheduleBlockingSync = 4,
  cudaDeviceMapHost = 8,
  cudaOccupancyDefault = 0
};
#define cudaCpuDeviceId (-1)
#define cudaInvalidDeviceId (-2)

enum cudaMemoryType {
  cudaMemoryTypeUnregistered,
  cudaMemoryTypeHost,
  cudaMemoryTypeDevice,
  cudaMemoryTypeManaged
};
struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
};

enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
  cudaFuncAttributeClusterDimMustBeSet = 10,
  cudaFuncAttributeRequiredClusterWidth = 11,
  cudaFuncAttributeRequiredClusterHeight = 12,
  cudaFuncAttributeRequiredClusterDepth = 13,
  cudaFuncAttributeNonPortableClusterSizeAllowed = 14,
  cudaFuncAttributeClusterSchedulingPolicyPreference = 15
};
enum cudaFuncCache {
  cudaFuncCachePreferNone,
  cudaFuncCachePreferShared,
  cudaFuncCachePreferL1,
  cudaFuncCachePreferEqual
};
enum cudaSharedMemConfig {
  cudaSharedMemBankSizeDefault,
  cudaSharedMemBankSizeFourByte,
  cudaSharedMemBankSizeEightByte
};
enum cudaMemoryAdvise {
  cudaMemAdviseSetReadMostly = 1,
  cudaMemAdviseUnsetReadMostly,
  cudaMemAdviseSetPreferredLocation,
  cudaMemAdviseUnsetPreferredLocation,
  cudaMemAdviseSetAccessedBy,
  cudaMemAdviseUnsetAccessedBy
};
enum cudaLimit {
  cudaLimitStackSize,
  cudaLimitPrintfFifoSize,
  cudaLimitMallocHeapSize,
  cudaLimitDevRuntimeSyncDepth,
  cudaLimitDevRuntimePendingLaunchCount,
  cudaLimitMaxL2FetchGranularity,
  cudaLimitPersistingL2CacheSize
};
using cudaArray_const_t = const struct cudaArray*;
using cudaMipmappedArray_t = struct cudaMipmappedArray*;  // nothing makes one

enum cudaComputeMode {
  cudaComputeModeDefault,
  cudaComputeModeExclusive,
  cudaComputeModeProhibited
};

enum cudaSharedCarveout {
  cudaSharedmemCarveoutDefault = -1,
  cudaSharedmemCarveoutMaxL1 = 0,
  cudaSharedmemCarveoutMaxShared = 100
};

struct cudaFuncAttributes {
  std::size_t sharedSizeBytes = 0, constSizeBytes = 0, localSizeBytes = 0;
  int maxThreadsPerBlock = 1024, numRegs = 0, ptxVersion = 90, binaryVersion = 90;
  int maxDynamicSharedSizeBytes = 49152, preferredShmemCarveout = -1;
};

enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxBlockDimX = 2,
  cudaDevAttrMaxBlockDimY = 3,
  cudaDevAttrMaxBlockDimZ = 4,
  cudaDevAttrMaxGridDimX = 5,
  cudaDevAttrMaxGridDimY = 6,
  cudaDevAttrMaxGridDimZ = 7,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrTotalConstantMemory = 9,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMaxRegistersPerBlock = 12,
  cudaDevAttrClockRate = 13,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrKernelExecTimeout = 17,
  cudaDevAttrIntegrated = 18,
  cudaDevAttrCanMapHostMemory = 19,
  cudaDevAttrComputeMode = 20,
  cudaDevAttrConcurrentKernels = 31,
  cudaDevAttrEccEnabled = 32,
  cudaDevAttrPciBusId = 33,
  cudaDevAttrPciDeviceId = 34,
  cudaDevAttrMemoryClockRate = 36,
  cudaDevAttrGlobalMemoryBusWidth = 37,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrAsyncEngineCount = 40,
  cudaDevAttrUnifiedAddressing = 41,
  cudaDevAttrPciDomainId = 50,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrStreamPrioritiesSupported = 78,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrMaxRegistersPerMultiprocessor = 82,
  cudaDevAttrManagedMemory = 83,
  cudaDevAttrConcurrentManagedAccess = 89,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrMaxBlocksPerMultiprocessor = 106,
  cudaDevAttrMemoryPoolsSupported = 115
};

/// Of the device that --device names.
struct cudaDeviceProp {
  char name[256];
  std::size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize;
  std::size_t memPitch;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
  int clockRate;
  std::size_t totalConstMem;
  int major, minor;
  std::size_t textureAlignment, texturePitchAlignment, surfaceAlignment;
  int maxTexture1D, maxTexture1DLinear, maxTexture2D[2], maxTexture2DLinear[3], maxTexture3D[3];
  int maxTexture1DLayered[2], maxTexture2DLayered[3], maxTextureCubemap;
  int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory;
  int computeMode, concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID;
  int asyncEngineCount, unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize;
  int persistingL2CacheMaxSize, maxThreadsPerMultiProcessor;
  std::size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, concurrentManagedAccess;
  int pageableMemoryAccess, cooperativeLaunch, maxBlocksPerMultiProcessor;
  std::size_t sharedMemPerBlockOptin;
  int memoryPoolsSupported;
};
