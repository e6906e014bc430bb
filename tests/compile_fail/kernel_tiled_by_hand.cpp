// expect: tiled_by_hand: BM, BN and BK are equal and positive
// expect: tiled_by_hand: a block has BM * BN threads, at most 1024
#include "tessera/kernels/tiled_by_hand.hpp"

using namespace tessera;

constexpr auto use_1 = sizeof(TiledByHand<TileShape{.bm = 16, .bn = 16, .bk = 8}>);   // refused
constexpr auto use_2 = sizeof(TiledByHand<TileShape{.bm = 64, .bn = 64, .bk = 64}>);  // refused
