// Pseudorandom numbers, the same on every machine and in any order of the calls. SplitMix64 of
// Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
// OOPSLA 2014. Not for cryptography.
#pragma once

#include "tessera/core/config.hpp"

namespace tessera {

/// 64 well mixed bits: number n of the generator that starts at `seed`.
TESSERA_HD constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t n) {
  std::uint64_t z = seed + (n + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// A number in [0, 1), a multiple of 2^-53, each equally likely.
TESSERA_HD constexpr double random_unit(std::uint64_t seed, std::uint64_t n) {
  return static_cast<double>(random_bits(seed, n) >> 11) * 0x1p-53;
}

}  // namespace tessera
