// See fake_cuda.hpp.
#include "fake_cuda.hpp"

#include <cuda.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace tessera::testing {

FakeCuda& fake_cuda() {
  static FakeCuda one;
  return one;
}

void FakeCuda::reset() {
  contexts.clear();
  ++generation;
}

int FakeCuda::calls_of(const std::string& name) const {
  return static_cast<int>(std::count(calls.begin(), calls.end(), name));
}

namespace {

int now() {
  const FakeCuda& f = fake_cuda();
  return f.pushed.empty() ? f.current : f.pushed.back();
}

/// What the call of a function answers; `fault`: of one that reaches the device.
cudaError_t answer(const std::string& name, cudaError_t fault = cudaSuccess) {
  FakeCuda& f = fake_cuda();
  f.calls.push_back(name);
  cudaError_t out = fault;
  if (const auto found = f.fails.find(name); out == cudaSuccess && found != f.fails.end()) {
    out = found->second;
    f.fails.erase(found);
  }
  if (out != cudaSuccess && out != cudaErrorNotReady) f.last = out;
  return out;
}

/// The same of one that makes a context on the current device.
cudaError_t answer_in_context(const std::string& name) {
  fake_cuda().contexts.insert(now());
  return answer(name, fake_cuda().fault);
}

/// A context is its device and its generation.
CUresult retain(CUcontext* out, CUdevice device) {
  FakeCuda& f = fake_cuda();
  f.calls.emplace_back("retain");
  if (device < 0 || device >= f.devices) return CUDA_ERROR_INVALID_DEVICE;
  f.contexts.insert(device);
  *out = reinterpret_cast<CUcontext>(static_cast<std::uintptr_t>(f.generation * 1000 + device));
  return CUDA_SUCCESS;
}
CUresult push(CUcontext context) {
  FakeCuda& f = fake_cuda();
  const auto number = static_cast<int>(reinterpret_cast<std::uintptr_t>(context));
  if (number / 1000 != f.generation) return CUDA_ERROR_INVALID_CONTEXT;
  f.pushed.push_back(number % 1000);
  return CUDA_SUCCESS;
}
CUresult pop(CUcontext*) {
  if (fake_cuda().pushed.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  fake_cuda().pushed.pop_back();
  return CUDA_SUCCESS;
}

CUresult encode(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  fake_cuda().calls.emplace_back("map");
  return CUDA_SUCCESS;
}

}  // namespace

}  // namespace tessera::testing

using tessera::testing::answer;
using tessera::testing::answer_in_context;
using tessera::testing::fake_cuda;
using tessera::testing::now;

extern "C" {

cudaError_t cudaGetLastError() {
  // As the real one: without a driver it never says anything else.
  if (fake_cuda().driver == 0) return cudaErrorInsufficientDriver;
  return std::exchange(fake_cuda().last, fake_cuda().fault);
}
cudaError_t cudaPeekAtLastError() {
  return fake_cuda().driver == 0 ? cudaErrorInsufficientDriver : fake_cuda().last;
}
const char* cudaGetErrorName(cudaError_t status) {
  switch (status) {
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorIllegalAddress: return "cudaErrorIllegalAddress";
    case cudaErrorNoKernelImageForDevice: return "cudaErrorNoKernelImageForDevice";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    default: return "another error";
  }
}
const char* cudaGetErrorString(cudaError_t) { return "as it is said"; }

cudaError_t cudaDriverGetVersion(int* out) {
  *out = fake_cuda().driver;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* out) {
  *out = fake_cuda().runtime;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* out) {
  *out = fake_cuda().counting == cudaSuccess ? fake_cuda().devices : 0;
  if (fake_cuda().counting != cudaSuccess) fake_cuda().fails["count"] = fake_cuda().counting;
  return answer("count");
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* out, int) {
  *out = {};
  std::strcpy(out->name, "a device of a test");
  return answer("properties");
}
cudaError_t cudaDeviceGetAttribute(int* out, cudaDeviceAttr which, int) {
  const int major = fake_cuda().major;
  *out = major >= 9 ? 232448 : 100000;
  if (major != 0 && which == cudaDevAttrComputeCapabilityMajor) *out = major;
  if (major != 0 && which == cudaDevAttrComputeCapabilityMinor) *out = 0;
  if (major != 0 && which == cudaDevAttrMultiProcessorCount) *out = 132;
  return answer("attribute");
}
cudaError_t cudaDeviceGetPCIBusId(char* out, int, int) {
  *out = '\0';
  return answer("bus");
}
cudaError_t cudaGetDevice(int* out) {
  *out = now();
  return answer("device");
}
cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= fake_cuda().devices) return fake_cuda().last = cudaErrorInvalidDevice;
  fake_cuda().current = device;
  return answer_in_context("set device");
}
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** out, unsigned,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult* found) {
  const std::string wanted = name;
  *out = wanted == "cuDevicePrimaryCtxRetain" ? reinterpret_cast<void*>(&tessera::testing::retain)
         : wanted == "cuCtxPushCurrent"       ? reinterpret_cast<void*>(&tessera::testing::push)
         : wanted == "cuTensorMapEncodeTiled" ? reinterpret_cast<void*>(&tessera::testing::encode)
                                              : reinterpret_cast<void*>(&tessera::testing::pop);
  *found = cudaDriverEntryPointSuccess;
  if (wanted == "cuTensorMapEncodeTiled" && !fake_cuda().has_maps) {
    *out = nullptr;
    *found = cudaDriverEntryPointSymbolNotFound;
  }
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* all) {
  *free = *all = 1 << 20;
  return answer_in_context("memory");
}
cudaError_t cudaMalloc(void** out, std::size_t bytes) {
  const cudaError_t status = answer_in_context("malloc");
  if (status == cudaSuccess) *out = std::malloc(bytes);
  return status;
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t* out, const cudaMemPoolProps* properties) {
  *out = reinterpret_cast<cudaMemPool_t>(static_cast<std::uintptr_t>(properties->location.id + 1));
  return answer_in_context("pool");
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cudaSuccess; }
cudaError_t cudaMallocFromPoolAsync(void** out, std::size_t bytes, cudaMemPool_t, cudaStream_t) {
  const cudaError_t status = answer_in_context("malloc of stream");
  if (status == cudaSuccess) *out = std::malloc(bytes);
  return status;
}
cudaError_t cudaFreeAsync(void* data, cudaStream_t) {
  std::free(data);
  return answer_in_context("free of stream");
}
cudaError_t cudaFree(void* data) {
  std::free(data);
  return answer_in_context("free");
}
cudaError_t cudaHostAlloc(void** out, std::size_t bytes, unsigned) {
  const cudaError_t status = answer_in_context("malloc of host");
  if (status == cudaSuccess) *out = std::malloc(bytes);
  return status;
}
cudaError_t cudaFreeHost(void* data) {
  std::free(data);
  return answer_in_context("free of host");
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t) {
  const cudaError_t status = answer_in_context("copy");
  if (status == cudaSuccess) std::memcpy(to, from, bytes);
  return status;
}
cudaError_t cudaMemsetAsync(void*, int, std::size_t, cudaStream_t) {
  return answer_in_context("fill");
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* out, const void*) {
  *out = fake_cuda().memory;
  return answer("pointer");
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* out, unsigned) {
  *out = nullptr;
  return answer_in_context("stream");
}
cudaError_t cudaStreamDestroy(cudaStream_t) { return answer_in_context("end of stream"); }
cudaError_t cudaStreamGetDevice(cudaStream_t, int* out) {
  *out = 1;
  return answer("device of stream");
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return answer_in_context("wait"); }
cudaError_t cudaEventCreate(cudaEvent_t* out) {
  *out = nullptr;
  return answer_in_context("event");
}
cudaError_t cudaEventDestroy(cudaEvent_t) { return answer_in_context("end of event"); }
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return answer_in_context("record"); }
cudaError_t cudaEventQuery(cudaEvent_t) { return answer_in_context("query"); }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return answer_in_context("wait for event"); }
cudaError_t cudaEventElapsedTime(float* out, cudaEvent_t, cudaEvent_t) {
  *out = 1;
  return answer_in_context("elapsed");
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) {
  return answer_in_context("allow shared memory");
}
cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t stream) {
  fake_cuda().launched_on.push_back(stream);
  return answer_in_context("launch");
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void*, void**) {
  fake_cuda().launched_on.push_back(config->stream);
  return answer_in_context("launch");
}

// What the objects of nvcc call when a program is loaded: they have kernels, nobody runs them.
void** __cudaRegisterFatBinary(void*) { return nullptr; }
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*,
                            void*, int*) {}
cudaError_t __cudaGetKernel(cudaKernel_t*, const void*) { return cudaSuccess; }
cudaError_t __cudaPopCallConfiguration(dim3*, dim3*, std::size_t*, void*) { return cudaSuccess; }
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, std::size_t, cudaStream_t) {
  return cudaSuccess;
}
}
