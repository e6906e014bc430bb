// The GPU code that this program carries or has compiled, by the names of its entries.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/device/gpu_kernel.hpp"

namespace tessera::detail {

/// Of any AMD GPU, as a target.
inline constexpr const char* kAmdTargets = "gfx";
inline bool is_amd_target(std::string_view target) { return target.starts_with(kAmdTargets); }

/// The module with the kernel's entry and code for a target, "spir" or kAmdTargets: one that was
/// linked, else one that Clang makes now from the file that calls run(), kept in the user's cache,
/// for the AMD GPU that TESSERA_AMD_TARGET names. Throws Error(unavailable) with the reason, in the
/// name of the kernel.
const GpuModule& gpu_module_of(const KernelCall& call, const std::string& entry,
                               const std::string& target);
/// The arguments of an entry (device/gpu_kernel.hpp): for each parameter an address, then the
/// words.
struct GpuArguments {
  struct Address {
    void* base;
    bool is_tensor;
  };
  std::vector<Address> addresses;
  std::vector<std::uint64_t> words;
};
GpuArguments arguments_of(const KernelCall& call);

/// Its code for a target, or empty; for kAmdTargets that of the first AMD GPU.
std::string_view code_for(const GpuModule& module, std::string_view target);

}  // namespace tessera::detail
