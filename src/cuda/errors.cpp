// CUDA's error codes as our errors: see errors.hpp. Which faults end the use of CUDA in a process:
// CUDA Runtime API, section 6.3, "the process must be terminated and relaunched".
#include "errors.hpp"

#include <unistd.h>

#include <mutex>

#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"
#include "tessera/cuda/runtime.hpp"

namespace tessera::cuda::detail {

namespace {

/// State of the whole process.
struct History {
  std::mutex mutex;
  std::string fault;  ///< the first after which nothing works
  pid_t pid = 0;      ///< the process that used CUDA first
};

History& history() {
  static History one;
  return one;
}

/// The error that cudaGetLastError() would have returned before this thread's latest public call.
thread_local cudaError_t earlier = cudaSuccess;

std::string error_text(cudaError_t status) {
  return cat(cudaGetErrorName(status), ", ", cudaGetErrorString(status));
}

bool ends_cuda(cudaError_t status) {
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorMisalignedAddress:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorTensorMemoryLeak:
    case cudaErrorMpsClientTerminated:
    case cudaErrorExternalDevice: return true;
    default: return false;
  }
}

/// CUDA has not started. Without a driver every later call fails the same way.
bool is_no_start(cudaError_t status) {
  switch (status) {
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorInitializationError:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
    case cudaErrorDevicesUnavailable: return true;
    default: return false;
  }
}

[[noreturn]] void refuse_after(const std::string& fault) {
  throw Error(Category::unavailable, "CUDA no longer works in this process", {}, {},
              cat("the first fault was: ", fault, "; start a new process"));
}

}  // namespace

void check(cudaError_t status, const std::string& what) {
  if (status == cudaSuccess) return;
  const std::string text = error_text(status);
  if (ends_cuda(status)) {
    History& h = history();
    const std::lock_guard lock(h.mutex);
    if (!h.fault.empty()) refuse_after(h.fault);
    h.fault = cat(what, ": ", text);
    throw Error(Category::kernel, cat(what, ": a kernel that ran until then failed: ", text), {},
                {}, "run that kernel under 'tessera check' or compute-sanitizer, in a new process");
  }
  const std::string before =
      earlier == cudaSuccess ? "" : cat("; pending before this call: ", error_text(earlier));
  forget_own_error();
  if (is_no_start(status))
    throw Error(Category::unavailable, cat("CUDA is not available: ", why_unavailable(), before));
  switch (status) {
    case cudaErrorMemoryAllocation:
      throw Error(Category::resource, cat(what, ": no memory: ", text, before), {}, {},
                  "free memory, or use smaller matrices");
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorUnsupportedPtxVersion:
      throw Error(Category::unavailable, cat(what, ": not compiled for this device"),
                  "compute capability 8.0 or later, and a driver of CUDA 13", cat(text, before),
                  "'tessera doctor' names the device and the driver");
    default: throw Error(Category::argument, cat(what, " failed: ", text, before));
  }
}

void forget_own_error() {
  if (earlier == cudaSuccess) (void)cudaGetLastError();
}

void expect_usable() {
  History& h = history();
  const std::lock_guard lock(h.mutex);
  if (!h.fault.empty()) refuse_after(h.fault);
  if (h.pid != 0 && h.pid != getpid())
    throw Error(Category::unavailable,
                cat("CUDA was used by process ", h.pid, " before it forked this one, ", getpid()),
                {}, {}, "use CUDA after fork() only, or start processes with exec");
  // Without a driver nothing was used that fork could break.
  if (h.pid == 0 && !driver_version().empty()) h.pid = getpid();
  earlier = cudaPeekAtLastError();
  if (is_no_start(earlier)) earlier = cudaSuccess;  // nobody's call in particular
  if (ends_cuda(earlier)) {
    h.fault = cat("before a call of this library: ", error_text(earlier));
    refuse_after(h.fault);
  }
}

}  // namespace tessera::cuda::detail
