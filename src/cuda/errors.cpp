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

/// What the process as a whole remembers.
struct History {
  std::mutex mutex;
  std::string fault;  ///< the first after which nothing works
  pid_t pid = 0;      ///< the process that used CUDA first
};

History& history() {
  static History one;
  return one;
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

[[noreturn]] void refuse_after(const std::string& fault) {
  throw Error(Category::unavailable, "CUDA no longer works in this process", {}, {},
              cat("the first fault was: ", fault, "; start a new process"));
}

}  // namespace

void check(cudaError_t status, const std::string& what) {
  if (status == cudaSuccess) return;
  const std::string text = cat(cudaGetErrorName(status), ", ", cudaGetErrorString(status));
  if (ends_cuda(status)) {
    History& h = history();
    const std::lock_guard lock(h.mutex);
    if (!h.fault.empty()) refuse_after(h.fault);
    h.fault = cat(what, ": ", text);
    throw Error(Category::kernel, cat(what, ": a kernel that ran until then failed: ", text), {},
                {}, "run that kernel under 'tessera check' or compute-sanitizer, in a new process");
  }
  (void)cudaGetLastError();
  switch (status) {
    case cudaErrorMemoryAllocation:
      throw Error(Category::resource, cat(what, ": no memory: ", text), {}, {},
                  "free device memory, or use smaller matrices");
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorInitializationError:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
    case cudaErrorDevicesUnavailable:
      throw Error(Category::unavailable, cat("CUDA is not available: ", why_unavailable()));
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorUnsupportedPtxVersion:
      throw Error(Category::unavailable, cat(what, ": not compiled for this device"),
                  "compute capability 8.0 or later, and a driver of CUDA 13", text,
                  "'tessera doctor' names the device and the driver");
    default: throw Error(Category::argument, cat(what, " failed: ", text));
  }
}

void expect_usable() {
  History& h = history();
  const std::lock_guard lock(h.mutex);
  if (!h.fault.empty()) refuse_after(h.fault);
  if (h.pid == 0 && driver_version().empty())
    return;  // then nothing was used that fork could break
  if (h.pid == 0) h.pid = getpid();
  if (h.pid == getpid()) return;
  throw Error(Category::unavailable,
              cat("CUDA was used by process ", h.pid, " before it forked this one, ", getpid()), {},
              {}, "use CUDA after fork() only, or start processes with exec");
}

}  // namespace tessera::cuda::detail
