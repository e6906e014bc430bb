// What a plugin is to the process that loads it: the library inside, and one function.
#include <vector>

#include "tessera/cpu/gemm.hpp"

extern "C" float tessera_plugin_multiplies() {
  constexpr tessera::index_t n = 300;
  std::vector<float> A(n * n, 1), B(n * n, 2), C(n * n);
  for (int call = 0; call < 3; ++call) {
    tessera::cpu::gemm<float>({.M = n,
                               .N = n,
                               .K = n,
                               .A = A.data(),
                               .a_row = n,
                               .B = B.data(),
                               .b_row = n,
                               .C = C.data(),
                               .c_row = n,
                               .threads = 4});
  }
  return C.back();
}
