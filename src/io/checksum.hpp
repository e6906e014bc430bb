// A checksum that detects damaged data: FNV-1a over 64-bit words, mixed at the end of each call. It
// does not protect against forgery.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tessera::io {

/// The checksum of an empty sequence.
inline constexpr std::uint64_t kNoChecksum = 1469598103934665603u;

/// Extends the checksum `sum` by `size` bytes. The division into calls matters: "ab", "c" and "a",
/// "bc" give different results.
inline std::uint64_t checksum(const void* bytes, std::size_t size,
                              std::uint64_t sum = kNoChecksum) {
  constexpr std::uint64_t kPrime = 1099511628211u;
  const auto* next = static_cast<const std::byte*>(bytes);
  for (; size >= 8; next += 8, size -= 8) {
    std::uint64_t word;
    std::memcpy(&word, next, 8);
    sum = (sum ^ word) * kPrime;
    sum ^= sum >> 32;
  }
  for (; size > 0; ++next, --size) sum = (sum ^ static_cast<std::uint64_t>(*next)) * kPrime;
  return sum ^ sum >> 29;
}

}  // namespace tessera::io
