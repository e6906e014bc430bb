// expect: tiled: BM, BN and BK are positive
// expect: tiled: a block has BM * BN threads, at most 1024
#include "tessera/kernels/tiled.hpp"

using namespace tessera;

constexpr auto use_1 = sizeof(Tiled<TileShape{.bm = 16, .bn = 16, .bk = 0}>);   // refused
constexpr auto use_2 = sizeof(Tiled<TileShape{.bm = 64, .bn = 32, .bk = 16}>);  // refused
