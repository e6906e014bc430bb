// Puzzle 3: a kernel is what one thread does.
// out = a + 10, eight elements, one thread for each.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

struct AddTen {
  static constexpr const char* name = "add_ten";
  static constexpr Dim3 block{8};
  TESSERA_KERNEL void operator()(auto t, auto a, auto out) const {
    const int i = t.thread;  // my number: 0 to 7
    //> FILL ME IN (1 line)
    out(i) = a(i) + 10;
    //> end
  }
};
