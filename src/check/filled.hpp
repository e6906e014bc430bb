// Memory without a value is filled, to find bytes that have one. Private to src.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tessera::check {

/// Fills memory without a value: NaN in every floating-point type, and no likely integer.
inline constexpr std::uint16_t kNoValue = 0x7fff;

/// `at` is even.
inline void fill_memory(void* at, std::size_t bytes, std::uint16_t fill) {
  auto* const begin = static_cast<std::byte*>(at);
  for (std::size_t i = 0; i < bytes; ++i) begin[i] = std::byte(fill >> i % 2 * 8 & 0xff);
}

/// A bit for each of at most 64 bytes: it is not what fills the memory.
inline std::uint64_t bytes_with_value(const void* at, std::size_t bytes, std::uint16_t fill) {
  const bool is_odd = (reinterpret_cast<std::uintptr_t>(at) & 1) != 0;
  const std::uint64_t pair = is_odd ? std::uint64_t{fill} >> 8 | (fill & 0xffu) << 8 : fill,
                      pattern = pair * 0x0001000100010001u;
  std::uint64_t out = 0;
  for (std::size_t first = 0; first < bytes; first += 8) {
    const std::size_t count = std::min<std::size_t>(8, bytes - first);
    std::uint64_t value = pattern;
    std::memcpy(&value, static_cast<const std::byte*>(at) + first, count);
    // The top bit of each byte that differs; then these eight bits side by side.
    constexpr std::uint64_t kLow = 0x7f7f7f7f7f7f7f7f;
    const std::uint64_t differing = value ^ pattern;
    const std::uint64_t top = (((differing & kLow) + kLow) | differing) & ~kLow;
    out |= (top >> 7) * 0x0102040810204080u >> 56 << first;
  }
  return out;
}

}  // namespace tessera::check
