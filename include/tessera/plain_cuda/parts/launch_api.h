// Launches by calls of the runtime. The rewriter takes the cast to void* off the kernel's name, so
// that its parameters are known here (src/plain_cuda/rewrite.hpp).
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "../driver_types.h"
#include "launch.h"
#include "place.h"

enum cudaLaunchAttributeID {
  cudaLaunchAttributeIgnore = 0,
  cudaLaunchAttributeCooperative = 2,
  cudaLaunchAttributeClusterDimension = 4,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6,
  cudaLaunchAttributePriority = 8
};
union cudaLaunchAttributeValue {
  char pad[64];
  int cooperative;
  int programmaticStreamSerializationAllowed;
  int priority;
  struct {
    unsigned x, y, z;
  } clusterDim;
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};

namespace tessera::plain_cuda {
/// Of the latest launch by this thread of the host; errors before it are none of its own.
cudaError_t launch_error();

/// A launch's configuration, and the call that it is given to.
struct PlacedLaunch {
  const cudaLaunchConfig_t* how;
  Place place;
  PlacedLaunch(const cudaLaunchConfig_t* how_, TESSERA_PLACE) : how(how_), place(place) {}
};
}  // namespace tessera::plain_cuda

namespace tessera::plain_cuda {
template <class... P>
inline cudaError_t launch(void (*kernel)(P...), void** arguments, Place place) {
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    kernel(*static_cast<std::remove_cvref_t<P>*>(arguments[i])...);
  }
  (std::index_sequence_for<P...>());
  return tessera::plain_cuda::launch_error();
}
}  // namespace tessera::plain_cuda

template <class... P>
inline cudaError_t cudaLaunchKernel(void (*kernel)(P...), dim3 grid, dim3 block, void** arguments,
                                    std::size_t shared = 0, cudaStream_t stream = nullptr,
                                    TESSERA_PLACE) {
  tessera::plain_cuda::configure(place, grid, block, shared, stream);
  return tessera::plain_cuda::launch(kernel, arguments, place);
}
template <class... P>
inline cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(P...), dim3 grid, dim3 block,
                                               void** arguments, std::size_t shared = 0,
                                               cudaStream_t stream = nullptr, TESSERA_PLACE) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream, place);
}

#define TESSERA_NAMELESS_KERNEL                                                         \
  [[gnu::error(                                                                         \
      "the kernel of this launch is a variable: name it in the call, cudaLaunchKernel(" \
      "(void*)kernel, ...)")]]
TESSERA_NAMELESS_KERNEL cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block,
                                                     void** arguments, std::size_t shared = 0,
                                                     cudaStream_t stream = nullptr);
TESSERA_NAMELESS_KERNEL cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid,
                                                                dim3 block, void** arguments,
                                                                std::size_t shared = 0,
                                                                cudaStream_t stream = nullptr);
#undef TESSERA_NAMELESS_KERNEL

namespace tessera::plain_cuda {
/// The cluster that the attributes ask for; all others change no result: kernels are carried out
/// one after the other.
inline dim3 cluster_of(const cudaLaunchConfig_t& how) {
  dim3 out(1);
  for (unsigned i = 0; i < how.numAttrs; ++i) {
    const auto& [id, value] = how.attrs[i];
    if (id == cudaLaunchAttributeClusterDimension)
      out = dim3(value.clusterDim.x, value.clusterDim.y, value.clusterDim.z);
  }
  return out;
}
}  // namespace tessera::plain_cuda

template <class... P, class... A>
inline cudaError_t cudaLaunchKernelEx(tessera::plain_cuda::PlacedLaunch launch,
                                      void (*kernel)(P...), A&&... arguments) {
  const cudaLaunchConfig_t& how = *launch.how;
  tessera::plain_cuda::configure(launch.place, how.gridDim, how.blockDim, how.dynamicSmemBytes,
                                 how.stream, tessera::plain_cuda::cluster_of(how));
  kernel(static_cast<P>(std::forward<A>(arguments))...);
  return tessera::plain_cuda::launch_error();
}
template <class... P>
inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* how, void (*kernel)(P...),
                                       void** arguments, TESSERA_PLACE) {
  tessera::plain_cuda::configure(place, how->gridDim, how->blockDim, how->dynamicSmemBytes,
                                 how->stream, tessera::plain_cuda::cluster_of(*how));
  return tessera::plain_cuda::launch(kernel, arguments, place);
}
