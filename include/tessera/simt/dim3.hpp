// Extents and positions of a grid and its blocks, one to three dimensions, x fastest.
#pragma once

#include <limits>
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

namespace detail {

[[noreturn]] void refuse_grid(const char* kernel, index_t x, index_t y);

}  // namespace detail

/// The grid of `x` by `y` blocks, counted in 64 bits. Throws Error(argument) where one is beyond an
/// int.
constexpr Dim3 grid_of(const char* kernel, index_t x, index_t y = 1) {
  constexpr index_t kMost = std::numeric_limits<int>::max();
  if (x > kMost || y > kMost) detail::refuse_grid(kernel, x, y);
  return {static_cast<int>(x), static_cast<int>(y)};
}

/// The index of a thread in its block, or of a block in its grid. Converts to its linear number, x
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
