// What an address belongs to: the block's shared memory, an argument of the kernel, the thread's
// own stack, constants, or nothing that the kernel may access. Private to src/check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tessera/check/check.hpp"

namespace tessera::check {

/// Numbers of regions: shared storage, then the kernel's tensors.
inline constexpr int kSharedRegion = 0;
inline constexpr int kFirstBuffer = 1;

struct Region {
  std::uint64_t begin = 0, end = 0;
  Memory memory = Memory::global;
  bool is_output = false;
  int buffer = -1;  ///< number of the kernel's tensor
};

/// Begin and end of the heap block that contains an address; 0 and 0: no block does; null: unknown.
extern std::pair<std::uint64_t, std::uint64_t> (*heap_block)(std::uint64_t address);

/// The memory that the tensor's layout reaches, without what is outside the heap block in which it
/// begins.
std::pair<std::uint64_t, std::uint64_t> memory_of(const detail::Buffer& buffer);
/// The bytes that its layout reaches.
std::uint64_t reach_of(const detail::Buffer& buffer);

/// The tensors of a launch as regions of memory. Overlapping ones form one region, an output if one
/// of them is. Tensors without elements or with a null pointer have none.
std::vector<Region> regions_of(const std::vector<detail::Buffer>& buffers);

/// The current bytes of a region; fewer if the process has no memory there.
std::vector<std::byte> copy_of(const Region& region);

/// Does the tensor have a null pointer and, counted from it, this address?
bool lies_in_null(const detail::Buffer& buffer, std::uint64_t address);

/// The coordinates of the element that contains the byte at `offset` bytes from data(); false if
/// the layout has none.
bool coordinates_of(const Layout& layout, std::int64_t offset, std::vector<index_t>& out);

/// Static storage of the program and its libraries.
bool is_static_storage(std::uint64_t address);

}  // namespace tessera::check
