// expect: reshape, coalesce and composition need a tensor that is not clipped: copy the tile first, or tile a tensor whose extents are multiples of the tile
// expect: reshape<extents...>(t): the number of elements must stay the same
// expect: reshape<extents...>(t) needs a tensor whose layout is known when compiled: use reshape(t, extents...)
// expect: composition<layout>(t): the layout reaches beyond the elements of the tensor
// expect: the_strides_must_divide_for_a_composition
// expect: a HostTensor takes one coordinate for each mode
// expect: a HostTensor has 1 to 8 modes
#include "tessera/tensor/host_tensor.hpp"
#include "tessera/tensor/rearrange.hpp"
#include "tessera/tensor/storage.hpp"
#include "tessera/tensor/tile.hpp"
#include "tessera/tensor/transpose.hpp"

using namespace tessera;

void use(Tile<float, 6, 4>& storage, Tensor<float*, kRowMajorMatrix> run_time,
         HostTensor<float>& owner) {
  auto t = storage.view();
  coalesce(tile<4, 4>(t, 1, 0));    // refused
  reshape<5, 5>(t);                 // refused
  reshape<2, 2>(run_time);          // refused
  composition<row_major(5, 5)>(t);  // refused
  reshape<3, 8>(transpose(t));      // refused
  owner(1);                         // refused
  HostTensor<float, 9> ninth;       // refused
}
