// expect: memcpy and memmove copy bytes of a tile that the checker does not see: copy element by element, or assign the tile, mine = s.a
#define TESSERA_CHECK 1
#include <cstring>

#include "tessera/check/swap.hpp"
#include "tessera/tensor/storage.hpp"

using namespace tessera;

// One type for each use: the compiler says a sentence once for each.
template <int Use>
struct Shared {
  Tile<float, 4, 4> a, b[2];
};

void use(Shared<0>& s, Shared<1>& t, Shared<2>& u, float* mine) {
  std::memcpy(mine, &s.a, sizeof s.a);  // refused
  std::memmove(&t, mine, sizeof t);     // refused
  memcpy(u.b, &u, sizeof u.b);          // refused
  std::memcpy(mine, mine + 4, 16);      // numbers are no tiles
}
