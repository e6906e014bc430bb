// The current device of a thread: see runtime.hpp. cudaSetDevice() gives a device a context, also
// when it is only gone back to; so the context of the device wanted is laid on top of whatever is
// current, and taken away again (CUDA Driver API, "Primary Context Management"). The driver's
// functions are asked of the runtime: nothing links libcuda.
#include <cuda.h>

#include <array>
#include <mutex>

#include "errors.hpp"
#include "tessera/core/text.hpp"
#include "tessera/cuda/runtime.hpp"

namespace tessera::cuda {

namespace {

/// What is needed of the driver, all or nothing.
struct Contexts {
  decltype(&cuDevicePrimaryCtxRetain) retain = nullptr;
  decltype(&cuCtxPushCurrent) push = nullptr;
  decltype(&cuCtxPopCurrent) pop = nullptr;
};

template <class F>
bool find(F& function, const char* name, unsigned version) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &result);
  if (status != cudaSuccess) (void)cudaGetLastError();
  function = reinterpret_cast<F>(found);
  return status == cudaSuccess && result == cudaDriverEntryPointSuccess && found != nullptr;
}

const Contexts* contexts() {
  static const Contexts found = [] {
    Contexts out;
    const bool all = find(out.retain, "cuDevicePrimaryCtxRetain", 7000) &&
                     find(out.push, "cuCtxPushCurrent", 4000) &&
                     find(out.pop, "cuCtxPopCurrent", 4000);
    return all ? out : Contexts{};
  }();
  return found.retain == nullptr ? nullptr : &found;
}

/// The context that CUDA's runtime uses on a device, kept until the process ends, as the runtime
/// keeps it; null where it cannot be had.
CUcontext context_of(const Contexts& driver, int device) {
  static std::mutex mutex;
  static std::array<CUcontext, 64> kept{};
  if (device < 0 || device >= static_cast<int>(kept.size())) return nullptr;
  const std::lock_guard lock(mutex);
  CUcontext& own = kept[static_cast<std::size_t>(device)];
  if (own == nullptr && driver.retain(&own, device) != CUDA_SUCCESS) own = nullptr;
  return own;
}

}  // namespace

OnDevice::OnDevice(int device) {
  int before = 0;
  detail::check(cudaGetDevice(&before), "asking for the current device");
  if (before == device) return;
  if (const Contexts* driver = contexts()) {
    const CUcontext own = context_of(*driver, device);
    entered_ = own != nullptr && driver->push(own) == CUDA_SUCCESS;
  }
  if (entered_) return;
  detail::check(cudaSetDevice(device), cat("using device ", device));
  before_ = before;
}

OnDevice::~OnDevice() {
  CUcontext own = nullptr;
  if (entered_) (void)contexts()->pop(&own);
  else if (before_ >= 0) (void)cudaSetDevice(before_);
}

}  // namespace tessera::cuda
