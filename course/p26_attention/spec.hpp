#include <cmath>

#include "tessera/puzzle/run.hpp"

/// What the puzzle computes, and what well-known mistakes of it do.
struct AttentionRule {
  const tessera::puzzle::Input &Q, &K, &V;
  double divisor = 4;
  bool has_columns_of_k = false, has_total = true, overflows = false;

  double operator()(tessera::index_t i, tessera::index_t d) const {
    double total = 0, sum = 0, largest = 0;
    for (const bool is_sum : {false, true})
      for (tessera::index_t j = 0; j < 16; ++j) {
        double score = 0;
        for (tessera::index_t k = 0; k < 16; ++k)
          score += double(Q.values(i, k)) * (has_columns_of_k ? K.values(k, j) : K.values(j, k));
        score /= divisor;
        if (!is_sum) largest = j == 0 ? score : std::max(largest, score);
        if (!is_sum) continue;
        if (overflows && !std::isfinite(std::exp(float(score)))) return std::nan("");
        const double weight = std::exp(score - largest);
        total += weight;
        sum += weight * V.values(j, d);
      }
    return has_total ? sum / total : sum;
  }
};

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  for (const double scale : {0.125, 4.0}) {
    const auto part = [&](const char* name, int seed) {
      const auto m = puzzle::scattered(name, 16, 16, seed);
      return puzzle::input(name, 16, 16,
                           [&](index_t i, index_t j) { return double(m.values(i, j)) * scale; });
    };
    const auto Q = part("Q", 1), K = part("K", 2), V = part("V", 3);
    auto out = puzzle::output("out", 16, 16, AttentionRule{Q, K, V});
    puzzle::expect_mistakes(
        out, {{"all-wrong", AttentionRule{Q, K, V, 1}, "the scores are not divided by 4",
               "score[j] = sum / 4"},
              {"other-product", AttentionRule{Q, K, V, 4, true}, "this is Q * K, not Q * K^T",
               "row j of K: s.k(j, d)"},
              {"all-wrong", AttentionRule{Q, K, V, 4, false, false},
               "the weights of a row do not sum to 1", "total is the sum of all exps of the row"},
              {"not-finite", AttentionRule{Q, K, V, 4, false, true, true},
               "exp of a large score is infinite",
               "subtract the largest: std::exp(score[j] - largest)"}});
    out.tolerance = 1e-4 * std::max(1.0, scale * 8);
    const bool is_large = scale > 1;
    run.launch_with({.is_brief = is_large}, is_large ? "large scores" : "16 tokens, width 16",
                    Dim3{1}, Attention{}, Q, K, V, out);
  }
}
