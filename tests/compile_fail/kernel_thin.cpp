// expect: thin: BM is 64 or 32, rows of the large operand
// expect: thin: BN is a multiple of 8 up to 256, the columns of a warpgroup's instruction
#include "tessera/kernels/thin_tiled.hpp"

using namespace tessera;

constexpr auto use_1 = sizeof(ThinTiled<TileShape{.bm = 128, .bn = 16}>);  // refused
constexpr auto use_2 = sizeof(ThinTiled<TileShape{.bm = 64, .bn = 12}>);   // refused
