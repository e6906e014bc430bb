// Entries: how run() reaches a kernel that another compiler made. A file of kernels is compiled
// once for each device; each of these passes registers one function for each kernel and its kinds
// of arguments, before main() begins. run() finds it by names that are the same in every pass. What
// an entry is given is plain, too: tensors as addresses and extents, other values by their address.
#pragma once

#include <string>
#include <string_view>

#include "tessera/device/devices.hpp"
#include "tessera/device/managed_bytes.hpp"
#include "tessera/simt/dim3.hpp"

namespace tessera::detail {

struct GpuKernel;

/// A tensor argument.
struct TensorArgument {
  DeviceAddress address;
  index_t extents[8] = {};
  bool is_overwritten = false;  ///< the kernel reads nothing of what it held
};

/// One launch.
struct KernelCall {
  Device device;
  Dim3 grid, block;
  const char* name;                ///< of the kernel, for messages
  const void* kernel;              ///< the function object
  const void* const* arguments;    ///< of each a TensorArgument, or the value
  const void* queue = nullptr;     ///< cuda::Stream on CUDA
  const GpuKernel* gpu = nullptr;  ///< for devices whose code Clang makes
};
using KernelEntry = void (*)(const KernelCall&);

/// `kernel` and `arguments` are names of types. Two different entries for one name are remembered,
/// and refused when they are looked for.
bool add_kernel(DeviceKind kind, std::string_view kernel, std::string_view arguments,
                KernelEntry entry);
/// Throws Error(unavailable) where no pass made one.
KernelEntry find_kernel(const Device& device, const char* name, std::string_view kernel,
                        std::string_view arguments);
/// The entry of every kernel whose code Clang makes (KernelCall::gpu).
void start_compiled(const KernelCall& call);
/// Makes the device ready, calls the entry, and remembers the kernel's name for what fails later.
void start_kernel(KernelEntry entry, KernelCall call);

}  // namespace tessera::detail
