// What `tessera check` makes of K<<<grid, block, shared, stream>>>(arguments) and of the bodies of
// kernels (src/plain_cuda/rewrite.hpp). Implemented in src/plain_cuda/runtime/launch.cpp.
#pragma once

#include "../vector_types.h"
#include "place.h"

struct CUstream_st;

/// Where dynamic shared memory begins: the command links it.
extern "C" {
extern __thread char tessera_dynamic_shared_bytes[] __asm__("tessera_dynamic_shared");
}

namespace tessera::plain_cuda {

/// __launch_bounds__(threads, blocks, clusters).
struct LaunchBounds {
  int threads = 0, blocks = 0, cluster = 0;
};

constexpr LaunchBounds launch_bounds(int threads = 0, int blocks = 0, int cluster = 0) {
  return {threads, blocks, cluster};
}

/// __cluster_dims__(x, y, z).
struct ClusterDims {
  unsigned x = 1, y = 1, z = 1;
};
constexpr ClusterDims cluster_dims(unsigned x = 1, unsigned y = 1, unsigned z = 1) {
  return {x, y, z};
}

/// What extern __shared__ T x[] in a function refers to, whatever T is.
struct DynamicShared {
  template <class T>
  [[gnu::always_inline]] operator T&() const {
    return *reinterpret_cast<T*>(&tessera_dynamic_shared_bytes);
  }
};
constexpr DynamicShared dynamic_shared() { return {}; }

/// A thread of a kernel leaves a function by `return;`.
void note_return() noexcept;

/// A result that is stored to memory: `s[i] = stored(f(x))`.
template <class T>
[[gnu::always_inline]] constexpr T&& stored(T&& result) noexcept {
  return static_cast<T&&>(result);
}

/// The next kernel that this thread of the host calls has this configuration.
void configure(Place place, dim3 grid, dim3 block, std::size_t shared_bytes = 0,
               CUstream_st* stream = nullptr, dim3 cluster = dim3(1));

/// A kernel's body with its arguments, as a closure: each thread runs a copy.
struct KernelBody {
  const void* closure;
  std::size_t bytes;
  void (*run)(const void* closure);
};
void run_kernel_body(const char* name, const LaunchBounds& bounds, const ClusterDims& cluster,
                     const KernelBody& body);

template <class Closure>
void run_kernel(const char* name, const LaunchBounds& bounds, const ClusterDims& cluster,
                const Closure& closure) {
  run_kernel_body(name, bounds, cluster,
                  {&closure, sizeof closure, [](const void* at) TESSERA_UNSEEN {
                     Closure mine = *static_cast<const Closure*>(at);
                     mine();
                   }});
}
template <class Closure>
void run_kernel(const char* name, const LaunchBounds& bounds, const Closure& closure) {
  run_kernel(name, bounds, ClusterDims{}, closure);
}

}  // namespace tessera::plain_cuda
