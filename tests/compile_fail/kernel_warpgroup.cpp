// expect: warpgroup: WN = BN, and WM is a multiple of 64
// expect: warpgroup: BN is a multiple of 8 up to 256, and a thread has at most 192 sums
// expect: warpgroup: two warpgroups share a tile by its rows, or own whole tiles by turns
// expect: warpgroup: blocks of a cluster load 64 rows of A each, or 64 columns of B, or multiples
// expect: warpgroup: from two stages to as many as fit into 226 KiB
// expect: warpgroup: of f8 and of three planes a thread has two times at most 64 sums
#include "tessera/kernels/warpgroup_tiled.hpp"
#include "tessera/simt/launch.hpp"

using namespace tessera;

constexpr auto use_1 =
    sizeof(WarpgroupTiled<TileShape{.bm = 128, .bn = 128, .wm = 64, .wn = 64}>);  // refused
constexpr auto use_2 =
    sizeof(WarpgroupTiled<TileShape{.bm = 192, .bn = 128, .wm = 64, .wn = 128}>);  // refused
constexpr TileShape wide{.bm = 128, .bn = 192, .wm = 128, .wn = 192};
constexpr auto use_3 = sizeof(WarpgroupTiled<wide, ClusterShape{.down = 2}>);  // refused
constexpr auto use_5 =
    sizeof(WarpgroupTiled<TileShape{.bm = 128, .bn = 256, .wm = 64, .wn = 256}, {}, 9>);  // refused
constexpr auto use_6 =
    sizeof(WarpgroupTiled<TileShape{.bm = 128, .bn = 256, .wm = 128, .wn = 256}>);  // refused

constexpr TileShape large{.bm = 128, .bn = 256, .wm = 64, .wn = 256};
using Large = WarpgroupTiled<large>;
void use_4(const BulkMatrix<Large::LoadA<f8e4m3>>& A, const BulkMatrix<Large::LoadB<f8e4m3>>& B,
           const BulkMatrix<SliceTile<float>>& slices, Tensor<float*, row_major(256, 256)> C) {
  launch(Dim3{1}, Large{}, A, B, slices, C);  // refused
}
