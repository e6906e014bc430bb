#include <cmath>

#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto part = [](const puzzle::Input& m) {
    return puzzle::input(m.name, 16, 16,
                         [&m](index_t i, index_t j) { return double(m.values(i, j)) / 8; });
  };
  const auto Q = part(puzzle::scattered("Q", 16, 16, 1)),
             K = part(puzzle::scattered("K", 16, 16, 2)),
             V = part(puzzle::scattered("V", 16, 16, 3));
  auto out = puzzle::output("out", 16, 16, [&](index_t i, index_t d) {
    double total = 0, sum = 0;
    for (index_t j = 0; j < 16; ++j) {
      double score = 0;
      for (index_t k = 0; k < 16; ++k) score += double(Q.values(i, k)) * K.values(j, k);
      total += std::exp(score / 4);
      sum += std::exp(score / 4) * V.values(j, d);
    }
    return sum / total;
  });
  out.tolerance = 1e-4;
  run.launch("16 tokens, width 16", Dim3{1}, Attention{}, Q, K, V, out);
}
