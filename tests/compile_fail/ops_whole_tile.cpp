// expect: moves_in_vectors<width>: a matrix, or a tile of one
// expect: is_whole<width>: a tile of two modes, whose columns are a multiple of the width
#include "tessera/ops/whole_tile.hpp"

using namespace tessera;

bool wrong(float* data) {
  return is_whole<4>(tensor<row_major(8, 6)>(data));  // refused
}

bool wrong_rank(float* data) {
  return moves_in_vectors<4>(tensor<row_major(2, 3, 4)>(data));  // refused
}
