// expect: warpgroup: WN = BN, and WM is a multiple of 64
// expect: warpgroup: BN is a multiple of 8 up to 256, and a thread has at most 192 sums
// expect: warpgroup: two warpgroups share a tile by its rows, or own whole tiles by turns
// expect: warpgroup: blocks of a cluster load 64 rows of A each, or 64 columns of B, or multiples
// expect: warpgroup: from two stages to as many as fit into 226 KiB
// expect: warpgroup: of f8 the threads add: Adds::threads
// expect: warpgroup: where threads add, they have at most 192 sums with those of two parts
// expect: warpgroup: a group is one argument
// expect: warpgroup: Products::group takes a group
#include "tessera/kernels/three_bf16.hpp"
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

constexpr TileShape fits{.bm = 128, .bn = 128, .wm = 64, .wn = 128};
using One = WarpgroupTiled<fits>;
using Group = WarpgroupTiled<fits, {}, 0, Products::group>;
using A16 = BulkMatrix<One::LoadA<bf16>>;
using B16 = BulkMatrix<One::LoadB<bf16>>;
using C32 = Tensor<float*, row_major(256, 256)>;
void use_7(const A16& A, const B16& B, const BulkMatrix<SliceTile<float>>& slices, C32 C) {
  launch(Dim3{1}, Group{}, A, B, slices, C);  // refused
}
void use_8(const ProductGroup<GroupMember<A16, B16, BulkMatrix<SliceTile<float>>, C32>>& group) {
  launch(Dim3{1}, One{}, group);  // refused
}
constexpr auto use_9 = sizeof(ThreeBf16Tiled<wide>);  // refused
