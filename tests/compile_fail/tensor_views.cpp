// expect: slice takes one argument for each mode: a position, every, or between(begin, end)
// expect: slice keeps at least one mode: read a single element with t(i, j)
// expect: slice: a constant position or bound is outside the extent of its mode
// expect: between<begin, end>(): 0 <= begin <= end must hold
// expect: slice: only a mode that is no nested tuple can be cut with between()
// expect: row(t, i) takes a matrix; use slice for other ranks
// expect: permute<...> names every mode of the tensor exactly once
// expect: split: the tensor has no such mode
// expect: split<count, mode>: the count is positive
// expect: tile_range: exactly one of the tile coordinates is `along`, the mode to walk
// expect: tile<...> takes one size for each mode of the tensor
// expect: the sizes of a tile are positive
// expect: only a tensor without nested modes is cut into tiles: coalesce it first
// expect: a tensor takes one coordinate for each mode, or a single one for all
// expect: tensor<L>(data, values...) takes one value for each dynamic extent of L, then one for each dynamic stride: tensor<kRowMajorMatrix>(data, M, N, row_stride)
#include "tessera/tensor/slice.hpp"
#include "tessera/tensor/split.hpp"
#include "tessera/tensor/storage.hpp"
#include "tessera/tensor/tile.hpp"
#include "tessera/tensor/tile_range.hpp"
#include "tessera/tensor/transpose.hpp"

using namespace tessera;

constexpr Layout kNested{tuple(tuple(2, 2), 4), tuple(tuple(1, 8), 2)};

void use(Tile<float, 4, 8>& storage, Tensor<float*, row_major(2, 3, 4)> cube,
         Tensor<float*, kNested> nested, Tensor<float*, row_major(5, 5, 5)> other) {
  auto t = storage.view();
  slice(t, 1);                              // refused
  slice(t, 1, 2);                           // refused
  slice(t, at<4>(), every);                 // refused
  slice(t, every, between<2, 9>());         // refused
  slice(t, every, between<3, 2>());         // refused
  slice(nested, between<0, 2>(), every);    // refused
  row(cube, 1);                             // refused
  permute<0, 0>(t);                         // refused
  split<2, 2>(t);                           // refused
  split<0, 1>(t);                           // refused
  tile_range<4, 4>(t, 0, 1);                // refused
  tile<4>(t, 0, 0);                         // refused
  tile<0, 4>(t, 0, 0);                      // refused
  tile<2, 2>(nested, 0, 0);                 // refused
  other(1, 2);                              // refused
  tensor<kRowMajorMatrix>(t.data(), 4, 8);  // refused
}
