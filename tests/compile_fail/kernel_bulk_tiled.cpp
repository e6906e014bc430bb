// expect: bulk_tiled: BM, BN, TM and TN are positive
// expect: bulk_tiled: BK is 32, rows of 128 bytes
// expect: bulk_tiled: TM and TN are multiples of 4, at most 16 and 8
// expect: bulk_tiled: a warp is 8 x 4 threads: 8 TM divides BM and 4 TN divides BN
// expect: bulk_tiled: threads share out what they transpose by blocks of 4 x 4: a block has no more than 2 BM or 2 BN
// expect: bulk_tiled: a thread transposes at most four blocks of 4 x 4 of a tile
// expect: bulk_tiled: two stages fit into shared memory
// expect: bulk_tiled: the swizzle repeats after eight rows
// expect: PlainTile: a box has at most 256 x 256 elements
#include "tessera/kernels/bulk_tiled.hpp"

using namespace tessera;

constexpr auto use_1 =
    sizeof(BulkTiled<TileShape{.bm = -64, .bn = 64, .bk = 32, .tm = 8, .tn = 4}>);  // refused
constexpr auto use_2 =
    sizeof(BulkTiled<TileShape{.bm = 64, .bn = 64, .bk = 16, .tm = 8, .tn = 4}>);  // refused
constexpr auto use_3 =
    sizeof(BulkTiled<TileShape{.bm = 64, .bn = 64, .bk = 32, .tm = 6, .tn = 4}>);  // refused
constexpr auto use_4 =
    sizeof(BulkTiled<TileShape{.bm = 96, .bn = 64, .bk = 32, .tm = 8, .tn = 4}>);  // refused
constexpr auto use_5 =
    sizeof(BulkTiled<TileShape{.bm = 64, .bn = 256, .bk = 32, .tm = 8, .tn = 4}>);  // refused
using Large =
    BulkTiled<TileShape{.bm = 256, .bn = 256, .bk = 32, .tm = 16, .tn = 8}, Major::k, Major::k>;
constexpr auto use_6 = Large::stages_of<float>();
constexpr auto use_7 = BulkBox<PlainTile<float, 512, 32>>::rows;  // refused
constexpr auto use_8 =
    sizeof(BulkTiled<TileShape{.bm = 128, .bn = 32, .bk = 32, .tm = 16, .tn = 8}>);  // refused
constexpr auto use_9 = sizeof(detail::BulkRing<float, 60, 32, 2, 40, Major::k>);     // refused
