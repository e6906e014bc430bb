// What CUDA's error codes mean to a user. The first fault of a kernel is kept: every later call of
// the process fails because of it, and says so. Private to src/cuda.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "tessera/core/error.hpp"
#include "tessera/cuda/runtime.hpp"

namespace tessera::cuda::detail {

/// Throws what `status` means where it is no success. `what`: what was being done, "copy of 4 MB".
/// Takes an error of our own away, as forget_own_error() does.
void check(cudaError_t status, const std::string& what);

/// Throws where CUDA cannot be used now: a fault was seen before, or this process is a fork of one
/// that had used CUDA. To be called at the beginning of each public call: it also looks whether an
/// error of the caller's own calls is there.
void expect_usable();

/// Takes the error of a call of ours away, so that the caller's next cudaGetLastError() does not
/// find it. CUDA keeps only the latest of a thread: where one of the caller's stood there before,
/// ours stays in its place, so that the caller still finds one, and check() names the caller's.
void forget_own_error();

/// release() with `device` current, for destructors: what fails has nobody to be told.
template <class Release>
void release_on(int device, const Release& release) noexcept {
  try {
    const OnDevice on(device);
    release();
  } catch (const Error&) {
  }
}

}  // namespace tessera::cuda::detail
