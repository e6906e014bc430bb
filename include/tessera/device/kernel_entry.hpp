// Entries: how run() reaches a kernel that another compiler compiled. A file of kernels is compiled
// once for each device; before main() begins, each of these passes registers one function for each
// kernel and its types of arguments. run() finds it by names that are the same in every pass.
// Arguments are passed as plain data: tensors as addresses and extents, other values by address.
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
  bool is_overwritten = false;  ///< the kernel does not read its old elements
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
/// Prepares the device, calls the entry, and keeps the kernel's name for errors that appear later.
void start_kernel(KernelEntry entry, KernelCall call);

}  // namespace tessera::detail
