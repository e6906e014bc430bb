// expect: coalescing: a block has BM * BN threads, 1 to 1024
#include "tessera/kernels/coalescing.hpp"

using namespace tessera;

constexpr auto use_1 = sizeof(Coalescing<TileShape{.bm = 64, .bn = 32}>);  // refused
