// What memory a kernel in plain CUDA has: allocations, variables, the shared memory of its block.
// Private to the run-time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/check/check.hpp"

namespace tessera::plain_cuda {

/// The allocations and variables of the device as they are now.
std::vector<check::detail::Buffer> buffers_now();
std::vector<check::detail::SharedVariable> shared_variables();
/// Which bytes of the block's shared memory an object has, as the linker knows it; empty: unknown.
std::vector<std::pair<std::uint64_t, std::uint64_t>> shared_objects();
/// Bytes that the kernel's own variables take in shared memory, and those of functions that are no
/// kernel's. `code`: the address of its body.
std::size_t static_shared_bytes(std::uintptr_t code);

/// Of the block that the calling OS thread runs.
std::byte* shared_storage();
/// The launch at hand has so many bytes of dynamic shared memory; returns those of all.
std::size_t set_dynamic_shared(std::size_t bytes);

/// Is it inside a number or pointer that is declared as one, not at its first byte?
bool cuts_a_number(std::uintptr_t address);
/// What an address is that is neither.
check::detail::Elsewhere elsewhere(std::uint64_t address);

}  // namespace tessera::plain_cuda
