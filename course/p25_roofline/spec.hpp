#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto size = [](index_t j) { return double(index_t{2} << (2 * j)); };
  run.values(
      "operations for n = 2, 8, 32, 128", 1, 4,
      [&](index_t, index_t j) { return operations(size(j)); },
      [&](index_t, index_t j) { return 2 * size(j) * size(j) * size(j); },
      {{"all-wrong", [&](index_t, index_t j) { return size(j) * size(j) * size(j); },
        "each value is half of the right one", "a multiply-add is two operations"},
       {"all-wrong", [&](index_t, index_t j) { return 2 * size(j) * size(j); },
        "this is 2 * n * n: one multiply-add for each element of C",
        "each of the n * n elements of C is a sum of n products"}});
  run.values(
      "bytes for n = 2, 8, 32, 128", 1, 4, [&](index_t, index_t j) { return bytes(size(j)); },
      [&](index_t, index_t j) { return 12 * size(j) * size(j); },
      {{"all-wrong", [&](index_t, index_t j) { return 3 * size(j) * size(j); },
        "these are elements", "a float has 4 bytes"},
       {"all-wrong", [&](index_t, index_t j) { return 8 * size(j) * size(j); },
        "a matrix is missing", "A, B and C move once each"}});
  run.values(
      "attainable Gflop/s for 0.1875, 3, 12, 48 operations for each byte", 1, 4,
      [](index_t, index_t j) { return attainable(j == 0 ? 0.1875 : 0.75 * double(1 << 2 * j)); },
      [](index_t, index_t j) {
        const double intensity = j == 0 ? 0.1875 : 0.75 * double(1 << 2 * j);
        return intensity * 1555 < 19500 ? intensity * 1555 : 19500;
      },
      {{"all-wrong",
        [](index_t, index_t j) { return 1555 * (j == 0 ? 0.1875 : 0.75 * double(1 << 2 * j)); },
        "above the ridge nothing gives more than the peak",
        "the lower of bandwidth * intensity and peak"},
       {"all-wrong",
        [](index_t, index_t j) {
          return std::max(19500.0, 1555 * (j == 0 ? 0.1875 : 0.75 * double(1 << 2 * j)));
        },
        "this is the higher of bandwidth * intensity and peak",
        "the lower of bandwidth * intensity and peak"}});
}
