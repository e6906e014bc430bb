// expect: single_block: BM, BN and BK are equal and positive
// expect: single_block: the block has BM * BN threads, at most 1024
#include "tessera/kernels/single_block.hpp"

using namespace tessera;

constexpr auto use_1 = sizeof(SingleBlock<TileShape{.bm = 16, .bn = 16, .bk = 8}>);   // refused
constexpr auto use_2 = sizeof(SingleBlock<TileShape{.bm = 64, .bn = 64, .bk = 64}>);  // refused
