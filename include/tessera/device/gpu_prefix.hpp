// Included before everything else in GPU code that Clang makes (-include): what headers of the host
// expect and a device lacks. The options of that compile define __device__ and the like.
#pragma once

#if defined(__HIP__)

// Before <cstring> names the host's.
extern "C" {
__device__ inline void* memcpy(void* to, const void* from, unsigned long bytes) {
  return __builtin_memcpy(to, from, bytes);
}
__device__ inline void* memset(void* to, int value, unsigned long bytes) {
  return __builtin_memset(to, value, bytes);
}
}

#if defined(__SPIRV__)
// Clang calls the functions of <math.h>; OpenCL has them under other names.
extern "C" __device__ double _Z4erfcd(double);
extern "C" __device__ inline double erfc(double x) { return _Z4erfcd(x); }
#endif

// The errors of layouts are for constant expressions and for the host: code that a device runs may
// name them, and never reaches them.
#include "tessera/core/config.hpp"
#pragma clang force_cuda_host_device begin
#include "tessera/layout/refused.hpp"
#pragma clang force_cuda_host_device end

#endif
