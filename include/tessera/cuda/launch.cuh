// cuda::launch(stream, grid, kernel, args...): runs a kernel object on a GPU, the same object with
// the same tensors as launch() of simt/launch.hpp on the CPU. For files that nvcc compiles.
#pragma once

#include "tessera/cuda/launch_kernel.hpp"
#include "tessera/simt/cuda_thread.cuh"
#include "tessera/simt/launch.hpp"

namespace tessera::cuda {

/// Starts `kernel(t, args...)` for every thread of every block, in the order of the stream, and
/// returns. Arguments are copied: tensors are views of device memory. A grid with no block does
/// nothing. It neither allocates nor waits, so it can be captured in a graph. Errors of the launch
/// are thrown here; faults of the kernel are reported by the next call that waits.
template <class Kernel, class... Args>
void launch(const Stream& stream, Dim3 grid, const Kernel& kernel, const Args&... args) {
  static_assert((!tessera::detail::Owner<Args> && ...),
                "launch passes views to the kernel: give it a view of device memory");
  static_assert(tessera::detail::declared_block<Kernel>().x > 0,
                "a kernel for a GPU declares its block size: static constexpr Dim3 block");
  constexpr std::size_t shared_bytes = tessera::detail::SharedOf<Kernel, Args...>::bytes;
  static_assert(shared_bytes <= kMaxSharedBytes,
                "the kernel's Shared is larger than the shared memory of any GPU, 227 KiB");
  const void* function = nullptr;
  void* arguments[2 + sizeof...(Args)] = {const_cast<Kernel*>(&kernel), &grid};
  [[maybe_unused]] tessera::detail::Arguments<Args...> together{args...};
  if constexpr (tessera::detail::needs_sm_90a<Kernel>()) {
    void (*const compiled)(Kernel, Dim3, tessera::detail::Arguments<Args...>) =
        &entry_sm_90a<Kernel, Args...>;
    function = reinterpret_cast<const void*>(compiled);
    arguments[2] = &together;
  } else {
    void (*const compiled)(Kernel, Dim3, Args...) = &entry<Kernel, Args...>;
    function = reinterpret_cast<const void*>(compiled);
    int at = 2;
    ((arguments[at++] = const_cast<Args*>(&args)), ...);
  }
  detail::Kernel started{function, tessera::detail::kernel_name<Kernel>(), Kernel::block,
                         shared_bytes};
  started.cluster = tessera::detail::declared_cluster<Kernel>();
  if constexpr (requires { Kernel::starts_early; }) started.starts_early = Kernel::starts_early;
  detail::launch(stream, started, grid, arguments);
}

}  // namespace tessera::cuda
