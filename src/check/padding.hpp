// Padding: the bytes of an object that none of its members has, which nobody writes and copies of
// the whole object read. Private to Tessera.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include "tessera/check/check.hpp"
#include "tessera/core/text.hpp"

namespace tessera::check {

/// Does a gap contain this byte of an array with elements of `element` bytes?
inline bool is_in_gap(const detail::Gaps& gaps, std::size_t element, std::uint64_t byte) {
  const std::uint64_t at = byte % element;
  return std::any_of(gaps.begin(), gaps.end(),
                     [&](const auto& gap) { return gap.first <= at && at < gap.second; });
}

/// Can bytes [first, last), which have no value, be padding between members of an unknown type? The
/// byte before has a value. Both count from an address that suits any type.
constexpr bool may_be_padding(std::uint64_t first, std::uint64_t last) {
  constexpr std::uint64_t kMost = 8;  // to more no number is aligned
  return last - first < std::min(kMost, std::uint64_t{1} << std::countr_zero(last));
}

/// "bytes 8 to 15" of an element; empty for all of it.
inline std::string part_text(std::uint64_t first, std::uint64_t bytes, std::uint64_t element) {
  if (bytes == 0 || (first == 0 && bytes >= element)) return {};
  const std::uint64_t last = std::min(first + bytes, element) - 1;
  return first == last ? cat("byte ", first) : cat("bytes ", first, " to ", last);
}

}  // namespace tessera::check
