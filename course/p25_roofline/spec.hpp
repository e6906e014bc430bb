#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto size = [](index_t j) { return double(index_t{2} << (2 * j)); };
  run.values(
      "operations for n = 2, 8, 32, 128", 1, 4,
      [&](index_t, index_t j) { return operations(size(j)); },
      [&](index_t, index_t j) { return 2 * size(j) * size(j) * size(j); });
  run.values(
      "bytes for n = 2, 8, 32, 128", 1, 4, [&](index_t, index_t j) { return bytes(size(j)); },
      [&](index_t, index_t j) { return 12 * size(j) * size(j); });
  run.values(
      "attainable Gflop/s for 0.1875, 3, 12, 48 operations for each byte", 1, 4,
      [](index_t, index_t j) { return attainable(j == 0 ? 0.1875 : 0.75 * double(1 << 2 * j)); },
      [](index_t, index_t j) {
        const double intensity = j == 0 ? 0.1875 : 0.75 * double(1 << 2 * j);
        return intensity * 1555 < 19500 ? intensity * 1555 : 19500;
      });
}
