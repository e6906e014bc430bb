// Memory without a value is filled, to find bytes that have one. Private to src.
#pragma once

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

/// `fill` at an address, eight bytes of it.
inline std::uint64_t fill_at(const void* at, std::uint16_t fill) {
  const bool is_odd = (reinterpret_cast<std::uintptr_t>(at) & 1) != 0;
  const std::uint64_t pair = is_odd ? std::uint64_t{fill} >> 8 | (fill & 0xffu) << 8 : fill;
  return pair * 0x0001000100010001u;
}

/// A bit for each of the bytes of a number: it is not what fills the memory.
template <class Number>
std::uint64_t bytes_with_value(const void* at, std::uint16_t fill) {
  Number value;
  std::memcpy(&value, at, sizeof value);
  const std::uint64_t differing =
      static_cast<Number>(value ^ static_cast<Number>(fill_at(at, fill)));
  // The top bit of each byte that differs; then these bits side by side.
  constexpr std::uint64_t kLow = 0x7f7f7f7f7f7f7f7f;
  const std::uint64_t top = (((differing & kLow) + kLow) | differing) & ~kLow;
  return (top >> 7) * 0x0102040810204080u >> 56;
}

/// The same of at most 64 bytes.
inline std::uint64_t bytes_with_value(const void* at, std::size_t bytes, std::uint16_t fill) {
  if (bytes == 4) return bytes_with_value<std::uint32_t>(at, fill);
  if (bytes == 8) return bytes_with_value<std::uint64_t>(at, fill);
  std::uint64_t out = 0;
  const auto* const begin = static_cast<const std::byte*>(at);
  std::size_t first = 0;
  for (; first + 8 <= bytes; first += 8)
    out |= bytes_with_value<std::uint64_t>(begin + first, fill) << first;
  for (; first < bytes; ++first)
    out |= bytes_with_value<std::uint8_t>(begin + first, fill) << first;
  return out;
}

}  // namespace tessera::check
