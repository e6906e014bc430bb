// expect: only a tensor without nested modes is distributed: coalesce it first
// expect: only a tensor without nested modes is split: coalesce it
// expect: reshape: only a tensor without nested modes
// expect: a nested mode has several strides: use layout()
// expect: contains() takes one coordinate for each mode
// expect: tile takes one tile coordinate for each mode of the tensor
// expect: tile_range<sizes...>(t, coordinates...) takes one size and one coordinate for each mode of the tensor
// expect: slice: each argument is a position, at<I>(), every, or between(begin, end)
// expect: column(t, j) takes a matrix; use slice for other ranks
// expect: composition<layout>(t) needs a tensor whose layout is known when compiled
#include "tessera/tensor/distribute.hpp"
#include "tessera/tensor/rearrange.hpp"
#include "tessera/tensor/slice.hpp"
#include "tessera/tensor/split.hpp"
#include "tessera/tensor/tile_range.hpp"

using namespace tessera;

constexpr Layout kNested{tuple(tuple(2, 2), 4), tuple(tuple(1, 8), 2)};

void use(Tensor<float*, row_major(4, 8)> t, Tensor<float*, row_major(2, 3, 4)> cube,
         Tensor<float*, kNested> nested, Tensor<float*, kRowMajorMatrix> run_time) {
  distribute<row_major(2, 2)>(nested, 0);  // refused
  split<2, 1>(nested);                     // refused
  reshape(nested, 16);                     // refused
  nested.stride<0>();                      // refused
  t.contains(1);                           // refused
  tile<2, 2>(t, 1);                        // refused
  tile_range<2, 2>(t, along);              // refused
  slice(t, "a", every);                    // refused
  column(cube, 1);                         // refused
  composition<row_major(2)>(run_time);     // refused
}
