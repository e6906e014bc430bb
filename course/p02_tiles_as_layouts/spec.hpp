#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  run.values(
      "tiled: where element (i, j) lies", 4, 6,
      [](index_t i, index_t j) { return double(tiled(i, j)); },
      [](index_t i, index_t j) { return i / 2 * 12.0 + j / 3 * 6.0 + i % 2 * 3.0 + j % 3; });
}
