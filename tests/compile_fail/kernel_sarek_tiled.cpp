// expect: sarek_tiled: BM, BN and BK are equal and positive
// expect: sarek_tiled: a block has BM * BN threads, at most 1024
#include "tessera/kernels/sarek_tiled.hpp"

using namespace tessera;

constexpr auto use_1 = sizeof(SarekTiled<TileShape{.bm = 16, .bn = 8, .bk = 16}>);   // refused
constexpr auto use_2 = sizeof(SarekTiled<TileShape{.bm = 64, .bn = 64, .bk = 64}>);  // refused
