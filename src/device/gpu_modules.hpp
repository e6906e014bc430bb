// The GPU code that this program carries or has compiled, by the names of its entries.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/device/gpu_kernel.hpp"

namespace tessera::detail {

/// The module with the kernel's entry: one that was linked, else one that Clang makes now from the
/// file that calls run() (`target`: "spir" or an AMD GPU), kept in the user's cache. Throws
/// Error(unavailable) with the reason, in the name of the kernel.
const GpuModule& gpu_module_of(const KernelCall& call, const std::string& entry,
                               const std::string& target);
/// What an entry is given (device/gpu_kernel.hpp): for each parameter an address, then the words.
struct GpuArguments {
  struct Address {
    void* base;
    bool is_tensor;
  };
  std::vector<Address> addresses;
  std::vector<std::uint64_t> words;
};
GpuArguments arguments_of(const KernelCall& call);

/// Its code for a target, or empty.
std::string_view code_for(const GpuModule& module, std::string_view target);

}  // namespace tessera::detail
