// The current device of a thread: see runtime.hpp. cudaSetDevice() creates a context, even when it
// only restores a device; so the context of the wanted device is pushed onto the context stack and
// popped again (CUDA Driver API, "Primary Context Management"). The driver's functions are looked
// up through the runtime: nothing links libcuda.
#include <cuda.h>

#include <map>
#include <mutex>

#include "errors.hpp"
#include "tessera/core/text.hpp"
#include "tessera/cuda/runtime.hpp"

namespace tessera::cuda {

namespace {

/// The driver functions that are needed, all or none.
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

/// Pushes the primary context of a device. It is retained until the process ends, as the runtime
/// does; after a reset of the device it is retained again.
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
  detail::check(cudaGetDevice(&before), "querying the current device");
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
