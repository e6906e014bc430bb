// expect: tensor_core: BM, BN, BK, WM and WN are positive
// expect: tensor_core: WM divides BM and WN divides BN
// expect: tensor_core: WM is a multiple of 16, WN of 8, BK of 16, the extents of a matrix instruction
// expect: tensor_core: a block has 32 threads for each warp tile, at most 1024
// expect: tensor_core: a block has a thread for each four elements of a row, of BK and of BN
// expect: tensor_core: BK is a multiple of 32, two steps of k; for f64 of 16, for bytes of 64
#include "tessera/kernels/tensor_core.hpp"

using namespace tessera;

constexpr auto use_1 =
    sizeof(TensorCoreTiled<TileShape{.bm = 64, .bn = 64, .bk = 0, .wm = 32, .wn = 32}>);  // refused
constexpr auto use_2 = sizeof(
    TensorCoreTiled<TileShape{.bm = 64, .bn = 64, .bk = 32, .wm = 48, .wn = 32}>);  // refused
constexpr auto use_3 =
    sizeof(TensorCoreTiled<TileShape{.bm = 64, .bn = 64, .bk = 32, .wm = 32, .wn = 4}>);  // refused
constexpr auto use_4 = sizeof(
    TensorCoreTiled<TileShape{.bm = 128, .bn = 128, .bk = 32, .wm = 16, .wn = 16}>);  // refused
constexpr auto use_5 = sizeof(
    TensorCoreTiled<TileShape{.bm = 16, .bn = 264, .bk = 32, .wm = 16, .wn = 264}>);  // refused
using Odd = TensorCoreTiled<TileShape{.bm = 64, .bn = 64, .bk = 48, .wm = 32, .wn = 32}>;
constexpr auto use_6 = sizeof(Odd::Shared<float>);
