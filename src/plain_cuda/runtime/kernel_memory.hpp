// The memory of a kernel in plain CUDA: allocations, variables, the shared memory of its block.
// Private to the runtime.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/check/check.hpp"

namespace tessera::plain_cuda {

/// The current allocations and variables of the device.
std::vector<check::detail::Buffer> buffers_now();
std::vector<check::detail::SharedVariable> shared_variables();
/// Which bytes of the block's shared memory belong to an object, according to the linker; empty:
/// unknown.
std::vector<std::pair<std::uint64_t, std::uint64_t>> shared_objects();
/// The shared memory of the kernel's own variables, and of functions that are not kernels, in
/// bytes. `code`: the address of its body.
std::size_t static_shared_bytes(std::uintptr_t code);

/// For the block that the calling OS thread runs.
std::byte* shared_storage();
/// From there to the end of dynamic shared memory, of the latest launch.
std::size_t shared_bytes();
/// The current launch has this many bytes of dynamic shared memory; returns the total.
std::size_t set_dynamic_shared(std::size_t bytes);

/// Is it inside a number or pointer that is declared as one, but not at its first byte?
bool cuts_a_number(std::uintptr_t address);
/// Describes an address that is neither.
check::detail::Elsewhere elsewhere(std::uint64_t address);

}  // namespace tessera::plain_cuda
