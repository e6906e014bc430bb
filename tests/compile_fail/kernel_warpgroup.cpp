// expect: warpgroup: WN = BN, and WM is a multiple of 64
// expect: warpgroup: two warpgroups share a tile by its rows, or own whole tiles by turns
// expect: warpgroup: blocks of a cluster load 64 rows of A each, or 64 columns of B, or multiples
#include "tessera/kernels/warpgroup_tiled.hpp"

using namespace tessera;

constexpr auto use_1 =
    sizeof(WarpgroupTiled<TileShape{.bm = 128, .bn = 128, .wm = 64, .wn = 64}>);  // refused
constexpr auto use_2 =
    sizeof(WarpgroupTiled<TileShape{.bm = 192, .bn = 128, .wm = 64, .wn = 128}>);  // refused
constexpr TileShape wide{.bm = 128, .bn = 192, .wm = 128, .wn = 192};
constexpr auto use_3 = sizeof(WarpgroupTiled<wide, ClusterShape{.down = 2}>);  // refused
