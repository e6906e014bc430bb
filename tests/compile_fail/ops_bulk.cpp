// expect: UnitTile: matrix units read K-major tiles whose rows are as wide as the swizzle
// expect: a tile is filled by whole boxes of at most 256 x 256 elements
// expect: tile<R, C> of a BulkMatrix: it was made for tiles of other extents
// expect: share<R>: the rows of a tile in equal parts
// expect: share<R> of a tile that may be MN-major: whole panels
#include "tessera/core/small_float.hpp"
#include "tessera/ops/bulk.hpp"

using namespace tessera;

constexpr auto use_1 = sizeof(UnitTile<bf16, row_major(64, 32)>);          // refused
constexpr auto use_2 = BulkBox<UnitTile<bf16, row_major(264, 64)>>::down;  // refused
using Numbers = UnitTile<bf16, row_major(64, 64)>;
const auto use_3 = tile<64, 32>(BulkMatrix<Numbers>{}, 0, 0);           // refused
auto& use_4(OperandTile<float, 64, 32>& t) { return share<24>(t, 1); }  // refused
auto& use_5(OperandTile<bf16, 64, 64>& t) { return share<32>(t, 1); }   // refused
