// expect: block_tiled_vectorized: BM, BN, BK, TM and TN are positive
// expect: block_tiled_vectorized: TM divides BM and TN divides BN
// expect: block_tiled_vectorized: BK and BN are multiples of the width 4
// expect: block_tiled_vectorized: a block has BM / TM * BN / TN threads, at most 1024
#include "tessera/kernels/block_tiled_vectorized.hpp"

using namespace tessera;

constexpr auto use_1 = sizeof(
    BlockTiledVectorized<TileShape{.bm = -64, .bn = 64, .bk = 8, .tm = 8, .tn = 8}>);  // refused
constexpr auto use_2 = sizeof(
    BlockTiledVectorized<TileShape{.bm = 64, .bn = 64, .bk = 8, .tm = 7, .tn = 8}>);  // refused
constexpr auto use_3 = sizeof(
    BlockTiledVectorized<TileShape{.bm = 64, .bn = 64, .bk = 6, .tm = 8, .tn = 8}>);  // refused
constexpr auto use_4 = sizeof(
    BlockTiledVectorized<TileShape{.bm = 128, .bn = 128, .bk = 8, .tm = 2, .tn = 2}>);  // refused
