// The tiles in which each kernel of the ladder is compiled, on the CPU and on CUDA alike: the
// default first. Private to src/matmul.
#pragma once

#include <cstdint>
#include <span>

#include "tessera/core/dtype.hpp"
#include "tessera/kernels/tile_shape.hpp"

namespace tessera::detail {

/// On CUDA at most the default tile is compiled for every type, because nvcc is slow.
inline constexpr int kTypedOnCuda = 1;

/// The number of leading tiles that are compiled for every element type; the others for f32.
template <int Typed, TileShape... Shapes>
struct TileList {
  static constexpr TileShape tiles[] = {Shapes...};
  static constexpr int typed = Typed;
};

using ElementwiseTiles = TileList<1, TileShape{.bm = 32, .bn = 32}, TileShape{.bm = 16, .bn = 16}>;
using TiledTiles =
    TileList<2, TileShape{.bm = 32, .bn = 32, .bk = 64}, TileShape{.bm = 16, .bn = 16, .bk = 16},
             TileShape{.bm = 32, .bn = 32, .bk = 32}, TileShape{.bm = 8, .bn = 8, .bk = 8},
             TileShape{.bm = 3, .bn = 3, .bk = 3}>;
using TiledRegisterTiles = TileList<1, TileShape{.bm = 64, .bn = 64, .bk = 8, .tm = 8},
                                    TileShape{.bm = 64, .bn = 64, .bk = 8, .tm = 16},
                                    TileShape{.bm = 32, .bn = 32, .bk = 8, .tm = 4}>;
using BlockTiledTiles = TileList<2, TileShape{.bm = 128, .bn = 128, .bk = 8, .tm = 8, .tn = 8},
                                 TileShape{.bm = 64, .bn = 64, .bk = 8, .tm = 8, .tn = 8},
                                 TileShape{.bm = 64, .bn = 64, .bk = 16, .tm = 4, .tn = 4},
                                 TileShape{.bm = 128, .bn = 128, .bk = 32, .tm = 8, .tn = 16}>;
using BlockTiledVectorizedTiles =
    TileList<1, TileShape{.bm = 128, .bn = 128, .bk = 8, .tm = 8, .tn = 8},
             TileShape{.bm = 64, .bn = 64, .bk = 8, .tm = 8, .tn = 8},
             TileShape{.bm = 64, .bn = 64, .bk = 16, .tm = 4, .tn = 4},
             TileShape{.bm = 128, .bn = 128, .bk = 32, .tm = 8, .tn = 16}>;
using TensorCoreTiles = TileList<1, TileShape{.bm = 128, .bn = 128, .bk = 32, .wm = 64, .wn = 64},
                                 TileShape{.bm = 64, .bn = 64, .bk = 32, .wm = 32, .wn = 32}>;
using PipelinedTiles = TileList<1, TileShape{.bm = 256, .bn = 128, .bk = 16, .tm = 16, .tn = 8},
                                TileShape{.bm = 64, .bn = 128, .bk = 16, .tm = 8, .tn = 8},
                                TileShape{.bm = 64, .bn = 64, .bk = 16, .tm = 8, .tn = 4},
                                TileShape{.bm = 128, .bn = 256, .bk = 16, .tm = 8, .tn = 16}>;
using BulkTiledTiles = TileList<0, TileShape{.bm = 256, .bn = 128, .bk = 32, .tm = 16, .tn = 8},
                                TileShape{.bm = 64, .bn = 64, .bk = 32, .tm = 8, .tn = 4}>;
/// WM = BM: two warpgroups own whole tiles alternately; else they share each tile. CM x CN: the
/// blocks of a cluster share what they load.
using WarpgroupTiles =
    TileList<7, TileShape{.bm = 128, .bn = 256, .wm = 64, .wn = 256},
             TileShape{.bm = 128, .bn = 192, .wm = 128, .wn = 192},
             TileShape{.bm = 128, .bn = 128, .wm = 128, .wn = 128},
             TileShape{.bm = 128, .bn = 64, .wm = 64, .wn = 64},
             TileShape{.bm = 64, .bn = 64, .wm = 64, .wn = 64},
             TileShape{.bm = 128, .bn = 256, .wm = 64, .wn = 256, .cm = 2, .cn = 1},
             TileShape{.bm = 128, .bn = 128, .wm = 64, .wn = 128, .cm = 2, .cn = 1}>;
/// Of elements of one byte.
using WarpgroupByteTiles =
    TileList<7, TileShape{.bm = 128, .bn = 128, .wm = 64, .wn = 128},
             TileShape{.bm = 128, .bn = 256, .wm = 64, .wn = 256},
             TileShape{.bm = 128, .bn = 128, .wm = 128, .wn = 128},
             TileShape{.bm = 128, .bn = 64, .wm = 64, .wn = 64},
             TileShape{.bm = 64, .bn = 64, .wm = 64, .wn = 64},
             TileShape{.bm = 128, .bn = 256, .wm = 64, .wn = 256, .cm = 2, .cn = 1},
             TileShape{.bm = 128, .bn = 128, .wm = 64, .wn = 128, .cm = 2, .cn = 1}>;
/// Those in which groups of products are compiled.
using GroupTiles = TileList<2, TileShape{.bm = 128, .bn = 128, .wm = 128, .wn = 128},
                            TileShape{.bm = 64, .bn = 64, .wm = 64, .wn = 64}>;
using GroupByteTiles = TileList<2, TileShape{.bm = 128, .bn = 128, .wm = 64, .wn = 128},
                                TileShape{.bm = 64, .bn = 64, .wm = 64, .wn = 64}>;
using ThreeBf16Tiles =
    TileList<0, TileShape{.bm = 128, .bn = 128, .wm = 64, .wn = 128},
             TileShape{.bm = 64, .bn = 64, .wm = 64, .wn = 64},
             TileShape{.bm = 128, .bn = 128, .wm = 64, .wn = 128, .cm = 2, .cn = 1}>;
/// BM rows of the large operand, BN of the small one.
using ThinTiles = TileList<8, TileShape{.bm = 64, .bn = 8}, TileShape{.bm = 64, .bn = 16},
                           TileShape{.bm = 64, .bn = 32}, TileShape{.bm = 64, .bn = 64},
                           TileShape{.bm = 32, .bn = 8}, TileShape{.bm = 32, .bn = 16},
                           TileShape{.bm = 32, .bn = 32}, TileShape{.bm = 32, .bn = 64}>;
using SingleBlockTiles =
    TileList<1, TileShape{.bm = 16, .bn = 16, .bk = 16}, TileShape{.bm = 3, .bn = 3, .bk = 3}>;
using TiledByHandTiles =
    TileList<1, TileShape{.bm = 16, .bn = 16, .bk = 16}, TileShape{.bm = 32, .bn = 32, .bk = 32},
             TileShape{.bm = 3, .bn = 3, .bk = 3}>;
using TiledIdiomaticTiles =
    TileList<1, TileShape{.bm = 32, .bn = 32, .bk = 32}, TileShape{.bm = 16, .bn = 16, .bk = 16},
             TileShape{.bm = 3, .bn = 3, .bk = 3}>;
using SarekNaiveTiles = TileList<1, TileShape{.bm = 1, .bn = 256}>;
using SarekTiledTiles =
    TileList<1, TileShape{.bm = 16, .bn = 16, .bk = 16}, TileShape{.bm = 32, .bn = 32, .bk = 32}>;

/// The default tile for elements of In. Of f64 there are registers for half as many sums; a matrix
/// instruction of bytes is twice as deep.
template <class Tiles, class In>
inline constexpr TileShape kFirstTile = Tiles::tiles[0];
template <>
inline constexpr TileShape kFirstTile<PipelinedTiles, double>{
    .bm = 64, .bn = 128, .bk = 16, .tm = 8, .tn = 8};
template <>
inline constexpr TileShape kFirstTile<TensorCoreTiles, double>{
    .bm = 128, .bn = 128, .bk = 16, .wm = 64, .wn = 32};
template <>
inline constexpr TileShape kFirstTile<TensorCoreTiles, std::int8_t>{
    .bm = 128, .bn = 128, .bk = 64, .wm = 64, .wn = 64};
template <>
inline constexpr TileShape kFirstTile<TensorCoreTiles, std::uint8_t> =
    kFirstTile<TensorCoreTiles, std::int8_t>;

/// Its own tiles for elements of In: one, or none where they are those of f32.
template <class Tiles, class In>
constexpr std::span<const TileShape> own_tiles() {
  constexpr bool has_own = kFirstTile<Tiles, In> != Tiles::tiles[0];
  return std::span(&kFirstTile<Tiles, In>, has_own ? 1 : 0);
}
/// Is this the default tile for elements of this type?
template <class Tiles>
constexpr bool is_first_tile(const TileShape& tile, DType in) {
  return tile == (in == DType::f64   ? kFirstTile<Tiles, double>
                  : size_of(in) == 1 ? kFirstTile<Tiles, std::int8_t>
                                     : Tiles::tiles[0]);
}

}  // namespace tessera::detail
