// expect: warpgroup: WN = BN, and WM is a multiple of 64
// expect: warpgroup: two warpgroups share a tile by its rows, or own whole tiles by turns
#include "tessera/kernels/warpgroup_tiled.hpp"

using namespace tessera;

constexpr auto use_1 =
    sizeof(WarpgroupTiled<TileShape{.bm = 128, .bn = 128, .wm = 64, .wn = 64}>);  // refused
constexpr auto use_2 =
    sizeof(WarpgroupTiled<TileShape{.bm = 192, .bn = 128, .wm = 64, .wn = 128}>);  // refused
