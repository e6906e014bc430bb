// Version, the index type, and every macro of the project. Nothing here knows about matrices. CPU
// compilers, nvcc and Clang for GPUs read the same headers: the macros are the whole difference.
#pragma once

#include <cstddef>
#include <cstdint>
#if !defined(__CUDACC__) && !defined(__clang__)
#include <source_location>
#endif

#define TESSERA_VERSION_MAJOR 0
#define TESSERA_VERSION_MINOR 1
#define TESSERA_VERSION_PATCH 0
#define TESSERA_VERSION "0.1.0"

/// 1: the file is compiled for a GPU, by nvcc or by Clang (for OpenCL and AMD).
#if defined(__CUDACC__) || defined(__HIP__)
#define TESSERA_GPU 1
#define TESSERA_HD __host__ __device__  // a function that host code and kernels may both call
#else
#define TESSERA_GPU 0
#define TESSERA_HD
#endif
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define TESSERA_GPU_CODE 1  // and this pass makes the GPU's code
#else
#define TESSERA_GPU_CODE 0
#endif
/// The body of a kernel and the verbs it calls.
#define TESSERA_KERNEL TESSERA_HD inline
/// Always inlined: files compiled for different instruction sets must not share one copy.
#define TESSERA_INLINE TESSERA_HD __attribute__((always_inline)) inline
/// 1: the checker can record the kernels of this file (core/recorder.hpp), on a CPU.
#if !defined(TESSERA_CHECK) || TESSERA_GPU
#undef TESSERA_CHECK
#define TESSERA_CHECK 0
#endif
/// Unrolls the following loop of a constant trip count; not where each access is a recorded call.
#if defined(__SPIRV__)  // OpenCL drivers unroll as suits the device
#define TESSERA_UNROLL
#elif TESSERA_GPU
#define TESSERA_UNROLL _Pragma("unroll")
#elif TESSERA_CHECK && defined(__clang__)
#define TESSERA_UNROLL _Pragma("clang loop unroll(disable)")
#elif TESSERA_CHECK
#define TESSERA_UNROLL _Pragma("GCC unroll 1")
#elif defined(__clang__)
#define TESSERA_UNROLL _Pragma("clang loop unroll(full)")
#else
#define TESSERA_UNROLL _Pragma("GCC unroll 64")
#endif
/// Keeps the following loop a loop: unrolling it costs compile time and gains nothing.
#if TESSERA_GPU
#define TESSERA_NO_UNROLL _Pragma("unroll 1")
#elif defined(__clang__)
#define TESSERA_NO_UNROLL _Pragma("clang loop unroll(disable)")
#else
#define TESSERA_NO_UNROLL _Pragma("GCC unroll 1")
#endif

/// The same on a GPU, where only unrolled loops keep arrays in registers; a plain loop on a CPU.
#if TESSERA_GPU
#define TESSERA_UNROLL_REGISTERS TESSERA_UNROLL
#else
#define TESSERA_UNROLL_REGISTERS TESSERA_NO_UNROLL
#endif

/// The column of the source where a default argument is used, or 0 where the compiler does not say.
#if defined(__CUDACC__)
#define TESSERA_COLUMN 0
#elif defined(__clang__)
#define TESSERA_COLUMN __builtin_COLUMN()
#else
#define TESSERA_COLUMN static_cast<int>(std::source_location::current().column())
#endif

/// 1: every access to an element of a tensor is checked (core/contract.hpp), 0: none. As assert():
/// on unless NDEBUG is defined. Off in GPU code, and in code for the checker, which reports bad
/// accesses itself.
#if !defined(TESSERA_CONTRACTS)
#if defined(NDEBUG) || TESSERA_CHECK
#define TESSERA_CONTRACTS 0
#else
#define TESSERA_CONTRACTS 1
#endif
#endif

/// Gives classes and functions with checked or recorded accesses their own symbols, so that one
/// program may link such files with unchecked ones.
#if TESSERA_CHECK && TESSERA_CONTRACTS
#define TESSERA_CHECKED_SYMBOL [[gnu::abi_tag("checked", "recorded")]]
#elif TESSERA_CHECK
#define TESSERA_CHECKED_SYMBOL [[gnu::abi_tag("recorded")]]
#elif TESSERA_CONTRACTS && !TESSERA_GPU
#define TESSERA_CHECKED_SYMBOL [[gnu::abi_tag("checked")]]
#else
#define TESSERA_CHECKED_SYMBOL
#endif

// The build uses the thread sanitizer, which does not understand fences.
#if defined(__SANITIZE_THREAD__)
#define TESSERA_THREADS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TESSERA_THREADS_SANITIZED 1
#endif
#endif
#if !defined(TESSERA_THREADS_SANITIZED)
#define TESSERA_THREADS_SANITIZED 0
#endif

namespace tessera {

/// Extents, strides, offsets: signed, 64 bits, counted in elements unless a name says bytes.
using index_t = std::int64_t;

/// Returns `value`, hidden from the optimizer on a GPU: what is derived from it is computed at its
/// use, not hoisted out of a loop and kept in registers. For rarely used values.
TESSERA_INLINE int opaque(int value) {
#if defined(__CUDA_ARCH__)
  asm volatile("" : "+r"(value));
#endif
  return value;
}

}  // namespace tessera
