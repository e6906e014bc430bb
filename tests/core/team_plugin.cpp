// A plugin that contains the thread pool, with one function.
#include <vector>

#include "tessera/core/parallel.hpp"

extern "C" float tessera_plugin_multiplies() {
  constexpr tessera::index_t n = 300;
  const std::vector<float> a(n, 1), b(n, 2);
  std::vector<float> c(n);
  for (int call = 0; call < 3; ++call) {
    tessera::parallel_for(n, 4, [&](tessera::index_t i) {
      float sum = 0;
      for (std::size_t k = 0; k < n; ++k) sum += a[k] * b[k];
      c[static_cast<std::size_t>(i)] = sum;
    });
  }
  return c.back();
}
