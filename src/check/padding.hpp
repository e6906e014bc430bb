// Padding: the bytes between the members of a class, which nobody writes and copies of the whole
// object read. Private to Tessera.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tessera::check {

/// Can bytes [first, last), which have no value, be padding? The byte before has one. Both count
/// from the begin of an array with elements of `element` bytes; no number is aligned to more
/// than 8.
constexpr bool may_be_padding(std::uint64_t first, std::uint64_t last, std::size_t element) {
  constexpr std::uint64_t kMost = 8;
  const std::uint64_t alignment = std::min(kMost, std::uint64_t{1} << std::countr_zero(last));
  return first % element != 0 && first / element == (last - 1) / element &&
         last - first < alignment;
}

}  // namespace tessera::check
