// A checksum that detects damaged data: FNV-1a over 64-bit words, four interleaved sequences of
// them in long data, mixed at the end of each call. It does not protect against forgery.
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
  const auto add = [](std::uint64_t& to, std::uint64_t word) {
    to = (to ^ word) * kPrime;
    to ^= to >> 32;
  };
  const auto word_at = [&](std::size_t place) {
    std::uint64_t word;
    std::memcpy(&word, next + place, 8);
    return word;
  };
  if (size >= 64) {  // one sequence would wait for each product
    std::uint64_t sums[4] = {sum, sum + 1, sum + 2, sum + 3};
    for (; size >= 32; next += 32, size -= 32) {
      for (std::size_t i = 0; i < 4; ++i) add(sums[i], word_at(8 * i));
    }
    for (const std::uint64_t each : sums) add(sum, each);
  }
  for (; size >= 8; next += 8, size -= 8) add(sum, word_at(0));
  for (; size > 0; ++next, --size) sum = (sum ^ static_cast<std::uint64_t>(*next)) * kPrime;
  return sum ^ sum >> 29;
}

}  // namespace tessera::io
