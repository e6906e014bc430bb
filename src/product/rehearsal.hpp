// How long each algorithm will take for a product, estimated from a small part of it; this gives
// the remaining time of a comparison. Algorithms differ by a factor of a thousand, and by machine.
#pragma once

#include <optional>
#include <vector>

#include "executor.hpp"
#include "shell/context.hpp"
#include "tessera/io/array.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::product {

/// Expected seconds.
struct Rehearsal {
  double exact = 0;           ///< of the verifier's product
  std::vector<double> steps;  ///< of each plan's product and its check; 0 where there is no plan
  double total() const;
};

/// Runs about a thirty-second part of the product by every plan. C is scratch memory for results.
/// If no progress is shown, or the product is too short to show it, all steps count alike.
Rehearsal rehearse(const shell::Context& context, Executor& executor,
                   const std::vector<std::optional<Plan>>& plans, const Problem& problem,
                   const ConstMatrix& A, const ConstMatrix& B, const Array& C, int threads);

}  // namespace tessera::product
