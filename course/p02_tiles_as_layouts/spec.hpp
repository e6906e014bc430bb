#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  run.values(
      "tiled: offset of element (i, j)", 4, 6,
      [](index_t i, index_t j) { return double(tiled(i, j)); },
      [](index_t i, index_t j) { return i / 2 * 12.0 + j / 3 * 6.0 + i % 2 * 3.0 + j % 3; },
      {{"other-product", [](index_t i, index_t j) { return 6.0 * i + j; },
        "this is the matrix row by row, not tile by tile",
        "one step down inside a tile is 3 elements; the next tile begins 6 elements further"},
       {"other-product",
        [](index_t i, index_t j) { return i / 2 * 6.0 + j / 3 * 12.0 + i % 2 * 3.0 + j % 3; },
        "the tiles follow each other column by column",
        "the tile to the right is the next one, 6 elements further"},
       {"other-product",
        [](index_t i, index_t j) { return i / 2 * 3.0 + i % 2 * 12.0 + j / 3 * 1.0 + j % 3 * 6.0; },
        "the strides inside a tile and those from tile to tile are swapped",
        "in each pair the first is the step inside a tile"},
       {"other-product",
        [](index_t i, index_t j) { return i % 2 * 3.0 + i / 2 + j % 3 * 12.0 + j / 3 * 6.0; },
        "the two strides inside a tile form one pair, those from tile to tile the other",
        "the first pair belongs to i: a step down inside a tile, then a tile further down"}});
}
