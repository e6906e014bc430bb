// Which memory an address is: the block's shared storage, an argument of the kernel, the thread's
// own stack, constants, or nothing that the kernel may touch. Private to src/check.
#pragma once

#include <cstddef>
#include <cstdint>
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

/// Where the block of the heap ends that holds an address; 0: no block does; null: nobody knows.
extern std::uint64_t (*heap_block_end)(std::uint64_t address);

/// The tensors of a launch as regions of memory. Overlapping ones are one region, an output if one
/// of them is. Those without an element or with a null pointer are none; what
/// lies behind the block of the heap in which a tensor begins belongs to none either.
std::vector<Region> regions_of(const std::vector<detail::Buffer>& buffers);

/// The bytes of a region as they are now; fewer where the process has no memory behind them.
std::vector<std::byte> copy_of(const Region& region);

/// Does the tensor have a null pointer and, counted from there, this address?
bool lies_in_null(const detail::Buffer& buffer, std::uint64_t address);

/// The coordinates of the element that holds the byte at `offset` bytes from data(); false where
/// the layout has none.
bool coordinates_of(const Layout& layout, std::int64_t offset, std::vector<index_t>& out);

/// Static storage of the program and its libraries.
bool is_static_storage(std::uint64_t address);

}  // namespace tessera::check
