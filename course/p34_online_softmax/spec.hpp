#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto value = [](index_t r, index_t j) {
    return double((r * 7 + j * 5 + j * j) % 33 - 16) / 4;
  };
  const auto a = puzzle::input("a", 32, 24, value);
  const auto softmax = [=](bool rescaled) {
    return [=](index_t r, index_t j) {
      double largest = value(r, 0), total = 1;
      for (index_t c = 1; c < 24; ++c) {
        const double higher = std::max(largest, value(r, c));
        total =
            total * (rescaled ? std::exp(largest - higher) : 1) + std::exp(value(r, c) - higher);
        largest = higher;
      }
      return std::exp(value(r, j) - largest) / total;
    };
  };
  auto out = puzzle::output("out", 32, 24, softmax(true));
  out.tolerance = 1e-5;
  puzzle::expect_mistakes(
      out, {{"factor", softmax(false), "the sum so far belongs to the old largest element",
             "multiply total by exp(largest - higher) before the new one is added"}});
  run.launch("32 rows of 24", Dim3{1}, Softmax{}, a, out);
  run.goal("loads from global memory, in warps", double(run.total().global_load_requests), 48,
           "one pass for the largest element and the sum together, one for the result");
}
