// The current device of a thread: see runtime.hpp. cudaSetDevice() gives a device a context, also
// when it is only gone back to; so the context of the device wanted is laid on top of whatever is
// current, and taken away again (CUDA Driver API, "Primary Context Management"). The driver's
// functions are asked of the runtime: nothing links libcuda.
#include <cuda.h>

#include <map>
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
  if (status != cudaSuccess) detail::forget_own_error();
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

/// Lays the context that CUDA's runtime uses on a device on top of what is current. It is kept
/// until the process ends, as the runtime keeps it; one of before a reset of the device is asked
/// for anew.
bool enter(const Contexts& driver, int device) {
  static std::mutex mutex;
  static std::map<int, CUcontext> kept;
  const std::lock_guard lock(mutex);
  CUcontext& own = kept[device];
  if (own != nullptr && driver.push(own) == CUDA_SUCCESS) return true;
  return driver.retain(&own, device) == CUDA_SUCCESS && driver.push(own) == CUDA_SUCCESS;
}

}  // namespace

OnDevice::OnDevice(int device) {
  detail::expect_usable();
  int before = 0;
  detail::check(cudaGetDevice(&before), "asking for the current device");
  if (before == device) return;
  const Contexts* driver = contexts();
  entered_ = driver != nullptr && enter(*driver, device);
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
