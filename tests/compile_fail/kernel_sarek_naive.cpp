// expect: sarek_naive: a block has BN threads in one row (BM = 1), at most 1024
#include "tessera/kernels/sarek_naive.hpp"

using namespace tessera;

constexpr auto use_1 = sizeof(SarekNaive<TileShape{.bm = 2, .bn = 32}>);  // refused
