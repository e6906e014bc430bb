// expect: pipelined: BM, BN, BK, TM and TN are positive
// expect: pipelined: BK is 16, four vectors of four, which the swizzle permutes
// expect: pipelined: TM and TN are multiples of 4
// expect: pipelined: a warp is 8 x 4 threads: 8 TM divides BM and 4 TN divides BN
// expect: pipelined: a block has BM / TM * BN / TN threads, at most 1024
#include "tessera/kernels/pipelined.hpp"

using namespace tessera;

constexpr auto use_1 =
    sizeof(Pipelined<TileShape{.bm = -64, .bn = 64, .bk = 16, .tm = 8, .tn = 8}>);  // refused
constexpr auto use_2 =
    sizeof(Pipelined<TileShape{.bm = 64, .bn = 64, .bk = 8, .tm = 8, .tn = 8}>);  // refused
constexpr auto use_3 =
    sizeof(Pipelined<TileShape{.bm = 64, .bn = 64, .bk = 16, .tm = 6, .tn = 8}>);  // refused
constexpr auto use_4 =
    sizeof(Pipelined<TileShape{.bm = 96, .bn = 64, .bk = 16, .tm = 8, .tn = 8}>);  // refused
constexpr auto use_5 =
    sizeof(Pipelined<TileShape{.bm = 512, .bn = 512, .bk = 16, .tm = 8, .tn = 8}>);  // refused
