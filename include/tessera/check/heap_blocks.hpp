// The heap of a checked file's program, with a record of its blocks: its operator new and delete
// (file_program.hpp) call these functions. Compiled for each file, so it includes little.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace tessera::check {

/// Throws std::bad_alloc.
void* new_block(std::size_t bytes);
void* new_block(std::size_t bytes, std::size_t alignment);
void delete_block(void* at) noexcept;
/// Begin and end of the block that contains this byte; 0 and 0: none does.
std::pair<std::uint64_t, std::uint64_t> heap_block_of(std::uint64_t address);

}  // namespace tessera::check
