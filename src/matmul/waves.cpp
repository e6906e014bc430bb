// See waves.hpp. The clocks of units, shared memory and L2 are those of H100 and H200 at their
// usual clock under load.
#include "waves.hpp"

#include <algorithm>
#include <cmath>

#include "ladder/tiles.hpp"

namespace tessera::detail {

namespace {

constexpr index_t kDepthBytes = 128;        // of a tile along K
constexpr double kL2BytesOfClock = 32;      // of a multiprocessor, while all of them read
constexpr double kMemoryBytesOfClock = 19;  // of a multiprocessor's share of memory
constexpr double kClocksOfTile = 2000;      // filling the ring, and storing the sums
constexpr double kClocksOfLaunch = 4000;    // of adding up, after the products are complete

index_t k_tiles(const Problem& p) { return ceil_div(p.K * size_of(p.in), kDepthBytes); }

/// Clocks for one tile along K: of four instructions for each 64 rows, which read A and B from
/// shared memory, and of loading both tiles.
double clocks_of_k_tile(const TileShape& t) {
  const double units = t.bn / 2.0, shared = (2048 + 32.0 * t.bn) / 128;
  const double loads = (t.bm + t.bn) * static_cast<double>(kDepthBytes) / kL2BytesOfClock;
  return std::max(t.bm / 64 * 4 * std::max(units, shared), loads);
}

/// Clocks of adding up so many sums in parts.
double clocks_of_sums(double sums, int parts, int multiprocessors) {
  if (parts == 1) return 0;
  return kClocksOfLaunch + sums * 4 * (parts + 1) / (kL2BytesOfClock * multiprocessors);
}

}  // namespace

std::span<const TileShape> group_tiles(DType in) {
  if (size_of(in) == 1) return GroupByteTiles::tiles;
  return GroupTiles::tiles;
}

bool has_parts(std::string_view algorithm, DType in, const TileShape& tile) {
  const auto tiles = group_tiles(in);
  return algorithm == "thin" ||
         (algorithm == "warpgroup" && std::find(tiles.begin(), tiles.end(), tile) != tiles.end());
}

index_t part_of_k(const Problem& p, int parts) {
  const index_t depth = kDepthBytes / size_of(p.in);
  return std::max<index_t>(1, ceil_div(k_tiles(p), index_t{parts})) * depth;
}

index_t bytes_of_parts(const Problem& p, int parts) {
  if (parts == 1 || p.K == 0 || p.alpha == 0) return 0;
  return ceil_div(p.K, part_of_k(p, parts)) * p.M * p.N * 4;
}

index_t plane_depth(const Problem& p) {
  constexpr index_t in_tile = kDepthBytes / 2;
  return p.alpha == 0 ? 0 : ceil_div(p.K, in_tile) * in_tile;
}
index_t plane_bytes(const Problem& p, index_t rows) { return rows * 3 * plane_depth(p) * 2; }

double expected_clocks(std::span<const Problem> products, const TileShape& tile, int parts,
                       int multiprocessors) {
  double tiles = 0, work = 0, longest = 0, sums = 0;
  for (const Problem& p : products) {
    const auto own = static_cast<double>(ceil_div(p.M, index_t{tile.bm}) *
                                         ceil_div(p.N, index_t{tile.bn}) * parts);
    const double each =
        static_cast<double>(ceil_div(k_tiles(p), index_t{parts})) * clocks_of_k_tile(tile) +
        kClocksOfTile;
    tiles += own, work += own * each, longest = std::max(longest, each);
    sums += static_cast<double>(p.M) * static_cast<double>(p.N);
  }
  if (tiles == 0) return 0;
  // Multiprocessors take whole tiles.
  const double clocks = std::max(longest, work / tiles * std::ceil(tiles / multiprocessors));
  return clocks + clocks_of_sums(sums, parts, multiprocessors);
}

TileAndParts fastest_group_tile(std::span<const Problem> products, int multiprocessors) {
  TileAndParts best;
  for (const TileShape& tile : group_tiles(products.empty() ? DType::f16 : products.front().in)) {
    const double clocks = expected_clocks(products, tile, 1, multiprocessors);
    if (best.tile == TileShape{} || clocks < best.clocks) best = {tile, 1, clocks};
  }
  return best;
}

TileAndParts fastest_parts(const Problem& p, int multiprocessors) {
  TileAndParts best;
  for (const TileShape& tile : group_tiles(p.in)) {
    for (int parts = 2; parts <= kMostTogether && parts <= k_tiles(p) / 2; ++parts) {
      const double clocks = expected_clocks(std::span(&p, 1), tile, parts, multiprocessors);
      if (best.parts == 1 || clocks < best.clocks) best = {tile, parts, clocks};
    }
  }
  return best;
}

double expected_thin_clocks(const Problem& p, const TileShape& tile, int parts,
                            int multiprocessors) {
  const index_t large = std::max(p.M, p.N), small = std::min(p.M, p.N);
  const auto blocks = static_cast<double>(ceil_div(large, index_t{tile.bm}) *
                                          ceil_div(small, index_t{tile.bn}) * parts);
  // Few blocks have more of the memory each, but not more than L2 gives.
  const double bytes_of_clock =
      std::min(kL2BytesOfClock,
               kMemoryBytesOfClock * multiprocessors / std::min<double>(blocks, multiprocessors));
  const double each = static_cast<double>(ceil_div(k_tiles(p), index_t{parts})) *
                          (tile.bm + tile.bn) * static_cast<double>(kDepthBytes) / bytes_of_clock +
                      kClocksOfTile;
  return each * std::ceil(blocks / multiprocessors) +
         clocks_of_sums(static_cast<double>(p.M) * static_cast<double>(p.N), parts,
                        multiprocessors);
}

TileAndParts fastest_thin_parts(const Problem& p, const TileShape& tile, int multiprocessors) {
  TileAndParts best{tile};
  for (int parts = 2; parts <= kMostTogether && parts <= k_tiles(p) / 2; ++parts) {
    const double clocks = expected_thin_clocks(p, tile, parts, multiprocessors);
    if (best.parts == 1 || clocks < best.clocks) best = {tile, parts, clocks};
  }
  return best;
}

}  // namespace tessera::detail
