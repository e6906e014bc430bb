// expect: copy(t, src, dst) copies a tile into a tile of the same static shape (rows, columns)
// expect: copy_vectorized(t, src, dst) copies a tile into a tile of the same static shape (rows, columns)
// expect: the columns of a tile that is copied in vectors are a multiple of the vector width
// expect: copy(src, dst): source and destination have the same rank and the same extents
// expect: copy(src, dst): the destination's elements are constant
// expect: copy_with<threads>(t, src, dst): source and destination have the same rank and the same extents
// expect: copy_with<threads>: the thread layout has one mode for each mode of the tensors, and gives each thread number exactly once, such as row_major(2, 4)
// expect: copy_with<threads, width>: the width is positive
// expect: copy(t, src, dst) takes views: copy(t, tile, s.a.view()), not copy(t, tile, s.a)
#include "tessera/ops/copy.hpp"
#include "tessera/ops/copy_thread.hpp"
#include "tessera/ops/copy_with.hpp"
#include "tessera/simt/dim3.hpp"
#include "tessera/tensor/storage.hpp"

using namespace tessera;

struct Thread {
  int thread = 0;
  Dim3 block_dim{32};
};

void use(Thread& t, Tile<float, 4, 8>& a, Tile<float, 8, 4>& b, const Tile<float, 4, 8>& constant) {
  copy(t, a.view(), b.view());                           // refused
  copy(t, a.view(), a);                                  // refused
  copy_vectorized<4>(t, a.view(), b.view());             // refused
  copy_vectorized<3>(t, a.view(), a.view());             // refused
  copy(a, b);                                            // refused
  copy(a.view(), constant.view());                       // refused
  copy_with<row_major(2, 4)>(t, a.view(), b.view());     // refused
  copy_with<row_major(8)>(t, a.view(), a.view());        // refused
  copy_with<row_major(2, 4), 0>(t, a.view(), a.view());  // refused
}
