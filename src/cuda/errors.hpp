// What CUDA's error codes mean to a user. The first fault of a kernel is kept: every later call of
// the process fails because of it, and says so. Private to src/cuda.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "tessera/core/error.hpp"
#include "tessera/cuda/runtime.hpp"

namespace tessera::cuda::detail {

/// Throws the error of `status` unless it is success. `what`: the operation, "copy of 4 MB". Clears
/// an error of ours as forget_own_error() does.
void check(cudaError_t status, const std::string& what);

/// Throws where CUDA cannot be used now: a fault was seen before, or this process is a fork of one
/// that had used CUDA. To be called at the beginning of each public call: it also checks whether an
/// error of the caller's own calls is pending.
void expect_usable();

/// Clears the error of a call of ours, so that the caller's next cudaGetLastError() does not return
/// it. CUDA keeps only the latest error of a thread: where one of the caller's was pending before,
/// ours is left in its place, so that the caller still sees an error, and check() names the
/// caller's.
void forget_own_error();

/// release() with `device` current, for destructors, which cannot report errors.
template <class Release>
void release_on(int device, const Release& release) noexcept {
  try {
    const OnDevice on(device);
    release();
  } catch (const Error&) {
  }
}

}  // namespace tessera::cuda::detail
