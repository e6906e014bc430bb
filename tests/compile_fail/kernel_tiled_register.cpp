// expect: tiled_register: BM, BN, BK and TM are positive
// expect: tiled_register: TN is 1: a thread owns elements of one column
// expect: tiled_register: TM divides BM
// expect: tiled_register: a block has BM / TM * BN threads, at most 1024
#include "tessera/kernels/tiled_register.hpp"

using namespace tessera;

constexpr auto use_1 =
    sizeof(TiledRegister<TileShape{.bm = 16, .bn = 16, .bk = 16, .tm = -1}>);  // refused
constexpr auto use_2 =
    sizeof(TiledRegister<TileShape{.bm = 64, .bn = 64, .bk = 8, .tm = 5}>);  // refused
constexpr auto use_3 =
    sizeof(TiledRegister<TileShape{.bm = 64, .bn = 64, .bk = 8, .tm = 2}>);  // refused
constexpr auto use_4 =
    sizeof(TiledRegister<TileShape{.bm = 64, .bn = 64, .bk = 8, .tm = 8, .tn = 2}>);  // refused
