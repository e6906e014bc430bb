// The rest of the CUDA runtime: errors, devices, streams and events. Every operation runs when it
// is called.
#include <chrono>
#include <cstring>

#include "graphs.hpp"
#include "handles.hpp"
#include "memory.hpp"
#include "program.hpp"
#include "tessera/check/device_model.hpp"
#include "tessera/core/text.hpp"
#include "tessera/plain_cuda/parts/runtime_api.h"

using tessera::cat;
using tessera::plain_cuda::Place;
using tessera::plain_cuda::Program;
using tessera::plain_cuda::Streams;

namespace {

const tessera::check::DeviceModel& model() {
  const std::string& name = Program::get().options.device;
  return tessera::check::device_model(name.empty() ? "h200" : name);
}

/// A program for several devices is not wrong, but it cannot be checked here.
cudaError_t require_device(int device, const Place& place) {
  if (device == 0) return cudaSuccess;
  if (device < 0)
    return refuse(cudaErrorInvalidDevice, place, cat("device ", device, "; the first is number 0"),
                  "ask cudaGetDeviceCount how many there are");
  Program::get().leave_unknown(cat("the program uses device ", device, " at ", place_text(place),
                                   ", and there is one device, number 0: give it options for a "
                                   "single GPU"));
  return Program::get().fail(cudaErrorInvalidDevice);
}

template <class Handle>
cudaError_t require_handle(const Handle* handle, const char* what, const Place& place) {
  if (handle != nullptr && !handle->is_destroyed) return cudaSuccess;
  if (handle != nullptr)
    return refuse(cudaErrorInvalidResourceHandle, place, cat("the ", what, " was destroyed"),
                  cat("destroy the ", what, " after its last use"));
  return refuse(cudaErrorInvalidResourceHandle, place, cat("no ", what, " was created"),
                cat("create the ", what, " before it is used"));
}

std::size_t limits[8] = {1024, 1 << 20, 8 << 20, 2, 2048, 64, 0, 0};

}  // namespace

namespace tessera::plain_cuda {
cudaError_t require_stream(const char* call, cudaStream_t stream, const Place& place) {
  const bool is_default =
      stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
  if (is_default || !stream->is_destroyed) return cudaSuccess;
  return refuse(cudaErrorInvalidResourceHandle, place, cat(call, ": the stream was destroyed"),
                "destroy the stream after its last use");
}
cudaError_t require_target(const void* at, const char* call, Place place) {
  if (at != nullptr) return cudaSuccess;
  return refuse(cudaErrorInvalidValue, place, cat(call, ": its result goes to a null pointer"),
                "give it the address of a variable");
}
}  // namespace tessera::plain_cuda
using tessera::plain_cuda::require_stream;
using tessera::plain_cuda::require_target;

cudaError_t cudaGetLastError(Place) { return Program::get().last_error(true); }
cudaError_t cudaPeekAtLastError(Place) { return Program::get().last_error(false); }

namespace {

struct NamedError {
  cudaError_t error;
  const char *name, *text;
};
#define TESSERA_NAMED(error, number, text) {error, #error, text},
constexpr NamedError kErrors[] = {TESSERA_CUDA_ERRORS(TESSERA_NAMED)};
#undef TESSERA_NAMED

const char* text_of(cudaError_t error, const char* NamedError::*which) {
  for (const NamedError& each : kErrors) {
    if (each.error == error) return each.*which;
  }
  return "unrecognized error code";
}

}  // namespace

const char* cudaGetErrorName(cudaError_t error) { return text_of(error, &NamedError::name); }
const char* cudaGetErrorString(cudaError_t error) { return text_of(error, &NamedError::text); }

// Waiting returns the errors of kernels that ran. cudaGetLastError returns those of refused calls
// and launches.
cudaError_t cudaDeviceSynchronize(Place) {
  Streams::get().wait_for_all();
  return Program::get().device_error();
}
cudaError_t cudaThreadSynchronize(Place) {
  Streams::get().wait_for_all();
  return Program::get().device_error();
}
cudaError_t cudaDeviceReset(Place) {
  Streams::get().wait_for_all();
  Program::get().lose_device(cudaSuccess);
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device, Place place) { return require_device(device, place); }
cudaError_t cudaGetDevice(int* device, Place place) {
  if (const auto error = require_target(device, "cudaGetDevice", place)) return error;
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count, Place place) {
  if (const auto error = require_target(count, "cudaGetDeviceCount", place)) return error;
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*, Place place) {
  if (const auto error = require_target(device, "cudaChooseDevice", place)) return error;
  *device = 0;
  return cudaSuccess;
}

static void set_texture_limits(cudaDeviceProp& out) {
  constexpr int kLine = 131072, kRows = 65536, kDeep = 16384, kLayered = 32768, kLayers = 2048;
  out.textureAlignment = out.surfaceAlignment = 512;
  out.texturePitchAlignment = 32;
  out.maxTexture1D = out.maxTexture2D[0] = out.maxTexture2DLinear[0] = kLine;
  out.maxTexture1DLinear = 1 << 28;
  out.maxTexture2D[1] = kRows, out.maxTexture2DLinear[1] = kRows - 536;
  out.maxTexture2DLinear[2] = 2097120;
  for (int& each : out.maxTexture3D) each = kDeep;
  for (int& each : out.maxTexture2DLayered) each = kLayered;
  out.maxTexture1DLayered[0] = out.maxTextureCubemap = kLayered;
  out.maxTexture1DLayered[1] = out.maxTexture2DLayered[2] = kLayers;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* out, int device, Place place) {
  if (const auto error = require_target(out, "cudaGetDeviceProperties", place)) return error;
  if (const auto error = require_device(device, place)) return error;
  const auto& m = model();
  *out = {};
  const std::size_t length = std::min(m.full_name.size(), sizeof out->name - 1);
  std::memcpy(out->name, m.full_name.data(), length);
  const auto value = [&](cudaDeviceAttr which) {
    int v = 0;
    cudaDeviceGetAttribute(&v, which, 0, place);
    return v;
  };
  out->totalGlobalMem = tessera::plain_cuda::DeviceMemory::get().total_bytes();
  out->sharedMemPerBlock = 49152;
  out->regsPerBlock = out->regsPerMultiprocessor = m.registers_per_sm;
  out->warpSize = value(cudaDevAttrWarpSize);
  out->memPitch = INT_MAX;
  out->maxThreadsPerBlock = 1024;
  out->maxThreadsDim[0] = out->maxThreadsDim[1] = 1024, out->maxThreadsDim[2] = 64;
  out->maxGridSize[0] = INT_MAX, out->maxGridSize[1] = out->maxGridSize[2] = 65535;
  out->clockRate = value(cudaDevAttrClockRate);
  out->totalConstMem = 65536;
  out->major = m.capability / 10, out->minor = m.capability % 10;
  set_texture_limits(*out);
  out->multiProcessorCount = m.sms;
  out->canMapHostMemory = out->concurrentKernels = out->unifiedAddressing = 1;
  out->asyncEngineCount = out->deviceOverlap = 1;
  out->memoryClockRate = value(cudaDevAttrMemoryClockRate);
  out->memoryBusWidth = value(cudaDevAttrGlobalMemoryBusWidth);
  out->l2CacheSize = static_cast<int>(m.l2_bytes);
  out->maxThreadsPerMultiProcessor = 32 * m.warps_per_sm;
  out->sharedMemPerMultiprocessor = static_cast<std::size_t>(m.smem_per_sm_bytes);
  out->managedMemory = out->concurrentManagedAccess = out->cooperativeLaunch = 1;
  out->memoryPoolsSupported = 1;
  out->maxBlocksPerMultiProcessor = m.blocks_per_sm;
  out->sharedMemPerBlockOptin = static_cast<std::size_t>(m.smem_per_block_bytes);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device, Place place) {
  if (const auto error = require_target(value, "cudaDeviceGetAttribute", place)) return error;
  if (const auto error = require_device(device, place)) return error;
  const auto& m = model();
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY: *value = 1024; break;
    case cudaDevAttrMaxBlockDimZ: *value = 64; break;
    case cudaDevAttrMaxGridDimX: *value = INT_MAX; break;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ: *value = 65535; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = 49152; break;
    case cudaDevAttrTotalConstantMemory: *value = 65536; break;
    case cudaDevAttrWarpSize: *value = Program::get().options.warp; break;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor: *value = m.registers_per_sm; break;
    case cudaDevAttrClockRate: *value = static_cast<int>(m.clock_hz / 1000); break;
    case cudaDevAttrMultiProcessorCount: *value = m.sms; break;
    case cudaDevAttrComputeMode: *value = cudaComputeModeDefault; break;
    case cudaDevAttrKernelExecTimeout:
    case cudaDevAttrPciBusId:
    case cudaDevAttrPciDeviceId:
    case cudaDevAttrPciDomainId:
    case cudaDevAttrIntegrated: *value = 0; break;
    case cudaDevAttrMemoryClockRate:
      *value = static_cast<int>(m.dram_bytes_per_s / 1e3 / 1280);
      break;
    case cudaDevAttrGlobalMemoryBusWidth: *value = 5120; break;
    case cudaDevAttrL2CacheSize: *value = static_cast<int>(m.l2_bytes); break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = 32 * m.warps_per_sm; break;
    case cudaDevAttrComputeCapabilityMajor: *value = m.capability / 10; break;
    case cudaDevAttrComputeCapabilityMinor: *value = m.capability % 10; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = m.smem_per_sm_bytes; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = m.smem_per_block_bytes; break;
    case cudaDevAttrMaxBlocksPerMultiprocessor: *value = m.blocks_per_sm; break;
    default: *value = 1;  // all features of the device are supported
  }
  return cudaSuccess;
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value, Place) {
  limits[limit] = value;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit, Place place) {
  if (const auto error = require_target(value, "cudaDeviceGetLimit", place)) return error;
  *value = limits[limit];
  return cudaSuccess;
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache, Place) { return cudaSuccess; }
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig, Place) { return cudaSuccess; }
cudaError_t cudaSetDeviceFlags(unsigned, Place) { return cudaSuccess; }
cudaError_t cudaDeviceCanAccessPeer(int* can, int, int, Place place) {
  if (const auto error = require_target(can, "cudaDeviceCanAccessPeer", place)) return error;
  *can = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned, Place place) {
  return require_device(peer == 0 ? 1 : peer, place);
}
cudaError_t cudaDriverGetVersion(int* version, Place place) {
  if (const auto error = require_target(version, "cudaDriverGetVersion", place)) return error;
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version, Place place) {
  if (const auto error = require_target(version, "cudaRuntimeGetVersion", place)) return error;
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t* stream, Place place) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault, place);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags, Place place) {
  if (const auto error = require_target(stream, "cudaStreamCreate", place)) return error;
  *stream = new CUstream_st{flags, Streams::get().create((flags & cudaStreamNonBlocking) == 0)};
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int, Place place) {
  return cudaStreamCreateWithFlags(stream, flags, place);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest, Place) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return cudaSuccess;
}
cudaError_t cudaStreamGetPriority(cudaStream_t, int* priority, Place place) {
  if (const auto error = require_target(priority, "cudaStreamGetPriority", place)) return error;
  *priority = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags, Place place) {
  if (const auto error = require_target(flags, "cudaStreamGetFlags", place)) return error;
  if (const auto error = require_handle(stream, "stream", place)) return error;
  *flags = stream->flags;
  return cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data,
                               Place place) {
  if (const auto error = require_stream("cudaLaunchHostFunc", stream, place)) return error;
  const auto run = [=](cudaStream_t on) {
    Streams::get().run_on_host(on, [=] { function(data); });
  };
  if (!tessera::plain_cuda::is_captured(stream, run, cudaGraphNodeTypeHost)) run(stream);
  return Program::get().device_error();
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned, Place place) {
  if (const auto error = require_stream("cudaStreamAddCallback", stream, place)) return error;
  Streams::get().run_on_host(stream,
                             [=] { callback(stream, Program::get().device_error(), data); });
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream, Place place) {
  if (const auto error = require_handle(stream, "stream", place)) return error;
  stream->is_destroyed = true;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream, Place place) {
  if (const auto error = require_stream("cudaStreamSynchronize", stream, place)) return error;
  Streams::get().wait_for(stream);
  return Program::get().device_error();
}
cudaError_t cudaStreamQuery(cudaStream_t stream,
                            Place place) {  // success means that all work is done
  if (const auto error = require_stream("cudaStreamQuery", stream, place)) return error;
  Streams::get().wait_for(stream);
  return Program::get().device_error();
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned, Place place) {
  if (const auto error = require_handle(event, "event", place)) return error;
  if (const auto error = require_stream("cudaStreamWaitEvent", stream, place)) return error;
  tessera::plain_cuda::wait_in_capture(stream, *event);
  Streams::get().wait(stream, event->clock);
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event, Place place) {
  if (const auto error = require_target(event, "cudaEventCreate", place)) return error;
  *event = new CUevent_st;
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned, Place place) {
  return cudaEventCreate(event, place);
}
cudaError_t cudaEventDestroy(cudaEvent_t event, Place place) {
  if (const auto error = require_handle(event, "event", place)) return error;
  event->is_destroyed = true;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream, Place place) {
  if (const auto error = require_handle(event, "event", place)) return error;
  if (const auto error = require_stream("cudaEventRecord", stream, place)) return error;
  *event = {true,
            std::chrono::steady_clock::now(),
            Streams::get().record(stream),
            tessera::plain_cuda::capture_of(stream),
            {}};
  if (event->graph != nullptr) event->last = stream->last;
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event, Place place) {
  if (const auto error = require_handle(event, "event", place)) return error;
  Streams::get().wait_for(event->clock);
  return Program::get().device_error();
}
cudaError_t cudaEventQuery(cudaEvent_t event, Place place) {
  return cudaEventSynchronize(event, place);
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end,
                                 Place place) {
  if (const auto error = require_target(milliseconds, "cudaEventElapsedTime", place)) return error;
  if (const auto error = require_handle(begin, "event", place)) return error;
  if (const auto error = require_handle(end, "event", place)) return error;
  if (!begin->is_recorded || !end->is_recorded)
    return refuse(cudaErrorInvalidResourceHandle, place,
                  "the time between events of which one was never recorded",
                  "cudaEventRecord both");
  *milliseconds = std::chrono::duration<float, std::milli>(end->when - begin->when).count();
  return cudaSuccess;
}
