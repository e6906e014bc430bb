// expect: block_tiled: BM, BN, BK, TM and TN are positive
// expect: block_tiled: TM divides BM and TN divides BN
// expect: block_tiled: a block has BM / TM * BN / TN threads, at most 1024
#include "tessera/kernels/block_tiled.hpp"

using namespace tessera;

constexpr auto use_1 =
    sizeof(BlockTiled<TileShape{.bm = -64, .bn = 64, .bk = 8, .tm = 8, .tn = 8}>);  // refused
constexpr auto use_2 =
    sizeof(BlockTiled<TileShape{.bm = 64, .bn = 64, .bk = 8, .tm = 8, .tn = 7}>);  // refused
constexpr auto use_3 =
    sizeof(BlockTiled<TileShape{.bm = 128, .bn = 128, .bk = 8, .tm = 2, .tn = 2}>);  // refused
