// Comparing all products of a case: see judge.hpp.
#include "judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tessera/core/text.hpp"

namespace tessera::bench {

Judge::Judge(const SharedOperands& operands, index_t products,
             const std::function<void(double)>& progress) {
  const auto count = static_cast<double>(products);
  for (index_t i = 0; i < products; ++i) {
    const ConstMatrix A = operands.A(i), B = operands.B(i);
    const Matrix C = operands.C(i);
    const Problem product = problem_of(operands.now());
    verifiers_.emplace_back(make_problem(A, B, C, product.alpha, product.beta), A, B, C, nullptr,
                            products == 1 ? 0 : 1, [&](index_t done, index_t total) {
                              const double share = static_cast<double>(done) /
                                                   static_cast<double>(std::max<index_t>(1, total));
                              if (progress) progress((static_cast<double>(i) + share) / count);
                            });
  }
}

Judgement Judge::check(const SharedOperands& results, Arithmetic arithmetic) const {
  Judgement out;
  for (std::size_t i = 0; i < verifiers_.size(); ++i) {
    const Matrix C = results.C(static_cast<index_t>(i));
    const Verification found = verifiers_[i].check(C, arithmetic);
    // Not std::max, which would lose a NaN.
    if (!std::isnan(out.max_error_ratio) && !(found.max_error_ratio <= out.max_error_ratio))
      out.max_error_ratio = found.max_error_ratio;
    if (found.within_bound || !out.good()) continue;
    out.fault =
        fmt::format("wrong at ({},{}){}: expected {:.9g}, got {:.9g}; {} of {} elements", found.row,
                    found.col, verifiers_.size() == 1 ? "" : cat(" of product ", i), found.expected,
                    found.got, found.outside, C.rows * C.cols);
  }
  return out;
}

}  // namespace tessera::bench
