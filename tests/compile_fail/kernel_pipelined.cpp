// expect: pipelined: BM, BN, BK, TM and TN are positive
// expect: pipelined: BK is even: two sets of operands alternate
// expect: pipelined: TM and TN are multiples of 4
// expect: pipelined: a warp is 8 x 4 threads: 8 TM divides BM and 4 TN divides BN
// expect: pipelined: a block has BM / TM * BN / TN threads, at most 1024
// expect: pipelined: a block has a thread for each of BK elements and for each four of BN
// expect: pipelined: of elements below 4 bytes BK is a multiple of 16 bytes; of f64 a block has a thread for each two of BN
#include "tessera/kernels/pipelined.hpp"

using namespace tessera;

constexpr auto use_1 =
    sizeof(Pipelined<TileShape{.bm = -64, .bn = 64, .bk = 16, .tm = 8, .tn = 8}>);  // refused
constexpr auto use_2 =
    sizeof(Pipelined<TileShape{.bm = 64, .bn = 64, .bk = 15, .tm = 8, .tn = 8}>);  // refused
constexpr auto use_3 =
    sizeof(Pipelined<TileShape{.bm = 64, .bn = 64, .bk = 16, .tm = 6, .tn = 8}>);  // refused
constexpr auto use_4 =
    sizeof(Pipelined<TileShape{.bm = 96, .bn = 64, .bk = 16, .tm = 8, .tn = 8}>);  // refused
constexpr auto use_5 =
    sizeof(Pipelined<TileShape{.bm = 512, .bn = 512, .bk = 16, .tm = 8, .tn = 8}>);  // refused
constexpr auto use_6 =
    sizeof(Pipelined<TileShape{.bm = 32, .bn = 16, .bk = 64, .tm = 4, .tn = 4}>);  // refused
using Shallow = Pipelined<TileShape{.bm = 64, .bn = 64, .bk = 4, .tm = 8, .tn = 8}>;
constexpr auto use_7 = sizeof(Shallow::Shared<f16>);  // refused
