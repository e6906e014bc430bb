// expect: vectorize<...> takes one width for each mode
// expect: the widths of vectorize<...> divide the extents of the tensor
// expect: the widths of vectorize<...> are positive
// expect: only a tensor without nested modes is vectorized: coalesce it first
// expect: the thread layout of distribute<...> has one mode for each mode of the tensor
// expect: the thread layout of distribute<...> gives each thread number exactly once, such as row_major(2, 4)
// expect: the thread layout of distribute<...> is known when compiled
// expect: cast<U>: cast the tensor first, then vectorize it
// expect: bitcast<U>: both element types have the same size; use cast<U> to convert values
#include "tessera/tensor/cast.hpp"
#include "tessera/tensor/distribute.hpp"
#include "tessera/tensor/storage.hpp"
#include "tessera/tensor/vectorize.hpp"

using namespace tessera;

constexpr Layout kNested{tuple(tuple(2, 2), 4), tuple(tuple(1, 8), 2)};
constexpr Layout kHoles{tuple(2, 2), tuple(1, 4)};

void use(Tile<float, 4, 8>& storage, Tensor<float*, kNested> nested) {
  auto t = storage.view();
  vectorize<4>(t);                          // refused
  vectorize<1, 3>(t);                       // refused
  vectorize<1, 0>(t);                       // refused
  vectorize<1, 2>(nested);                  // refused
  distribute<row_major(8)>(t, 0);           // refused
  distribute<kHoles>(t, 0);                 // refused
  distribute<row_major(2, dynamic)>(t, 0);  // refused
  cast<double>(vectorize<1, 4>(t));         // refused
  bitcast<double>(t);                       // refused
}
