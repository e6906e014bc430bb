// Extents and positions of a grid and its blocks, one to three dimensions, x fastest.
#pragma once

#include <string>

#include "tessera/core/config.hpp"
#include "tessera/core/text.hpp"

namespace tessera {

/// Extents: the blocks of a grid, or the threads of a block.
struct Dim3 {
  int x = 1, y = 1, z = 1;
  constexpr bool operator==(const Dim3&) const = default;
};

/// x * y * z.
TESSERA_HD constexpr index_t volume(Dim3 d) { return index_t{d.x} * d.y * d.z; }
/// "(x,y,z)"
inline std::string to_string(Dim3 d) { return cat("(", d.x, ",", d.y, ",", d.z, ")"); }

/// Where a thread stands in its block, or a block in its grid. Converts to its linear number, x
/// fastest.
struct Position {
  int x = 0, y = 0, z = 0;
  int linear = 0;
  TESSERA_HD constexpr operator int() const { return linear; }
};

TESSERA_HD constexpr Position position_of(int linear, Dim3 d) {
  return {linear % d.x, linear / d.x % d.y, linear / (d.x * d.y), linear};
}
inline std::string to_string(const Position& p) { return cat("(", p.x, ",", p.y, ",", p.z, ")"); }

/// Threads of a warp, unless the kernel declares the 64 of AMD's CDNA GPUs. Lane = linear thread
/// number modulo 32.
inline constexpr int kWarpSize = 32;

}  // namespace tessera
