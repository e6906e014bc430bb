// expect: UnitTile: matrix units read K-major tiles whose rows are as wide as the swizzle
// expect: a tile is filled by whole boxes of at most 256 x 256 elements
// expect: tile<R, C> of a BulkMatrix: it was made for tiles of other extents
#include "tessera/core/small_float.hpp"
#include "tessera/ops/bulk.hpp"

using namespace tessera;

constexpr auto use_1 = sizeof(UnitTile<bf16, row_major(64, 32)>);          // refused
constexpr auto use_2 = BulkBox<UnitTile<bf16, row_major(264, 64)>>::down;  // refused
using Numbers = UnitTile<bf16, row_major(64, 64)>;
const auto use_3 = tile<64, 32>(BulkMatrix<Numbers>{}, 0, 0);  // refused
