#include <algorithm>
#include <cmath>
#include <vector>

#include "tessera/puzzle/run.hpp"

/// What a well-known mistake of the puzzle does differently.
struct Slip {
  enum Score { right, columns_of_k, rows_of_v, rows_j_of_q, all_the_same, goes_on } score;
  enum Weight {
    exp_of_score,
    no_exp,
    exp_in_total_only,
    exp_after_total,
    overflows,
    minus_total
  } weight;
  double factor = 0.25;
  int divisions = 1;  ///< by the total
  int first = 0;      ///< row of V that is added
};

inline tessera::puzzle::Rule attention(const tessera::puzzle::Input& Q,
                                       const tessera::puzzle::Input& K,
                                       const tessera::puzzle::Input& V, const Slip& slip = {}) {
  using tessera::index_t;
  const auto product = [&](index_t i, index_t j, double sum) {
    for (index_t d = 0; d < 16; ++d) {
      const double q = Q.values(slip.score == Slip::rows_j_of_q ? j : i, d);
      sum += q * (slip.score == Slip::columns_of_k ? K.values(d, j)
                  : slip.score == Slip::rows_of_v  ? V.values(j, d)
                                                   : K.values(j, d));
    }
    return sum;
  };
  std::vector<double> out(256);
  for (index_t i = 0; i < 16; ++i) {
    double score[16] = {}, sum = 0, total = 0;
    for (index_t j = 0; j < 16 && slip.score != Slip::all_the_same; ++j) {
      sum = product(i, j, slip.score == Slip::goes_on ? sum : 0);
      score[j] = sum * slip.factor;
    }
    const double largest = *std::max_element(score, score + 16);
    for (index_t j = 0; j < 16; ++j) {
      const double taken = slip.weight == Slip::minus_total ? total : largest;
      const double less = score[j] - taken, power = std::exp(less);
      const bool adds_scores = slip.weight == Slip::no_exp || slip.weight == Slip::exp_after_total;
      const double weight = slip.weight == Slip::no_exp              ? less
                            : slip.weight == Slip::exp_in_total_only ? score[j]
                                                                     : power;
      const bool is_infinite = !std::isfinite(std::exp(float(score[j])));
      total += slip.weight == Slip::overflows && is_infinite ? std::nan("")
               : adds_scores                                 ? less
                                                             : power;
      for (index_t d = 0; d < 16 && j >= slip.first; ++d)
        out[std::size_t(i * 16 + d)] += weight * V.values(j, d);
    }
    for (index_t d = 0; d < 16; ++d)
      out[std::size_t(i * 16 + d)] /= std::pow(total, slip.divisions);
  }
  return [out](index_t i, index_t d) { return out[std::size_t(i * 16 + d)]; };
}

/// Each as an output that a learner may get.
inline std::vector<tessera::puzzle::Known> slips(const tessera::puzzle::Input& Q,
                                                 const tessera::puzzle::Input& K,
                                                 const tessera::puzzle::Input& V) {
  const char* const wrong = "all-wrong";
  const char* const divide = "score[j] = sum / 4: 4 is the square root of the width";
  const char* const power = "score[j] = exp(score[j] - largest), then total += score[j]";
  const auto is = [&](const Slip& slip) { return attention(Q, K, V, slip); };
  return {
      {wrong, is({.factor = 1}), "the scores are not divided by 4", "score[j] = sum / 4"},
      {wrong, is({.factor = 4}), "the scores are multiplied by 4, not divided", divide},
      {wrong, is({.factor = 1. / 16}), "the scores are divided by 16, not by 4", divide},
      {"other-product", is({.score = Slip::columns_of_k}), "this is Q * K, not Q * K^T",
       "row j of K: s.k(j, d)"},
      {"other-product", is({.score = Slip::rows_of_v}), "the scores are those of Q and V",
       "row j of K: s.k(j, d)"},
      {"other-product", is({.score = Slip::rows_j_of_q}),
       "row j of Q is multiplied with row j of K",
       "my row of Q, row j of K: Q(row, d) and s.k(j, d)"},
      {wrong, is({.score = Slip::all_the_same}),
       "each row of out is the mean of all rows of V: the 16 scores of a row are the same",
       "row j of K in each, s.k(j, d), and score[j] = sum / 4, with sum a float and = instead "
       "of +="},
      {wrong, is({.score = Slip::goes_on}), "each score holds the scores before it",
       "the sum of a score begins with 0 for each j"},
      {wrong, is({.weight = Slip::no_exp}), "the weights are the scores, without exp", power},
      {wrong, is({.weight = Slip::exp_in_total_only}),
       "the total is that of the exps, but the weights are the scores without exp", power},
      {wrong, is({.weight = Slip::exp_after_total}),
       "the total adds up scores of which exp is not taken yet", power},
      {wrong, is({.weight = Slip::minus_total}),
       "what is subtracted is the total so far, and not the largest score",
       "std::exp(score[j] - largest)"},
      {wrong, is({.divisions = 0}), "the weights of a row do not sum to 1",
       "total is the sum of all exps of the row"},
      {wrong, is({.first = 1}), "the first row of V is left out", "the last loop begins with 0"},
      {wrong, is({.divisions = 2}), "the weights are divided by their total twice",
       "the last line divides by total: divide nowhere else"},
      {"not-finite", is({.weight = Slip::overflows}), "exp of a large score is infinite",
       "subtract the largest: std::exp(score[j] - largest)"}};
}

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  for (const double scale : {0.125, 4.0}) {  // of the numbers from -8 to 8
    const auto part = [&](const char* name, int seed) {
      const auto m = puzzle::scattered(name, 16, 16, seed);
      return puzzle::input(name, 16, 16,
                           [&](index_t i, index_t j) { return double(m.values(i, j)) * scale; });
    };
    const auto Q = part("Q", 1), K = part("K", 2), V = part("V", 3);
    auto out = puzzle::output("out", 16, 16, attention(Q, K, V));
    puzzle::expect_mistakes(out, slips(Q, K, V));
    out.tolerance = 1e-4 * std::max(1.0, scale * 8);
    const bool is_large = scale > 1;
    run.launch_with({.is_brief = is_large}, is_large ? "large scores" : "16 tokens, width 16",
                    Dim3{1}, Attention{}, Q, K, V, out);
  }
}
