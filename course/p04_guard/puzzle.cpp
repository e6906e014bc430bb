// Puzzle 4: more threads than elements.
// out = a + 10, five elements, eight threads.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

constexpr int SIZE = 5;

struct AddTenGuarded {
  static constexpr const char* name = "add_ten_guarded";
  static constexpr Dim3 block{8};
  TESSERA_KERNEL void operator()(auto t, auto a, auto out) const {
    const int i = t.thread;
    //> FILL ME IN (1 line): threads 5, 6 and 7 have nothing to do
    if (i < SIZE) out(i) = a(i) + 10;
    //> end
  }
};
