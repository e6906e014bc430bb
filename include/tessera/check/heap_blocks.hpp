// The memory of a checked file's program, whose blocks are remembered: its operator new and delete
// (file_program.hpp) are these. It is compiled for each file, so it includes little.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::check {

/// Throws std::bad_alloc.
void* new_block(std::size_t bytes);
void* new_block(std::size_t bytes, std::size_t alignment);
void delete_block(void* at) noexcept;
/// Where the block ends that holds this byte; 0: no block does.
std::uint64_t end_of_block(std::uint64_t address);

}  // namespace tessera::check
