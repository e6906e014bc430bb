// expect: naive: a block has BM * BN threads, 1 to 1024
#include "tessera/kernels/naive.hpp"

using namespace tessera;

constexpr auto use_1 = sizeof(Naive<TileShape{.bm = 64, .bn = 32}>);  // refused
