// Puzzle 12: a swizzle instead of padding.
// The same transposition; the tile stays 32 x 32, but its elements are in another order.
#include "tessera/puzzle/puzzle.hpp"

#include "tessera/tensor/swizzled.hpp"

using namespace tessera;

struct TransposeSwizzled {
  static constexpr const char* name = "transpose_swizzled";
  static constexpr Dim3 block{32, 8};
  struct Shared {
    Tile<float, 32, 32> tile;
  };
  TESSERA_KERNEL void operator()(auto t, auto a, auto out) const {
    auto& s = shared<Shared>(t);
    const int x = t.thread.x;
    //> CHANGE the line below: Swizzle{bits, base, shift}: `bits` bits of an index, xor those `shift` above them
    auto tile = swizzled<Swizzle{5, 0, 5}>(s.tile.view());
    //> instead
    auto tile = swizzled<Swizzle{0, 0, 0}>(s.tile.view());
    //> end
    for (int y = t.thread.y; y < 32; y += 8) tile(y, x) = a(y, x);
    t.barrier();
    for (int y = t.thread.y; y < 32; y += 8) out(y, x) = tile(x, y);
  }
};
