// Verifies the results of one case: compares every product with an independent, more precise one
// and its error bound (see Verifier).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "operands.hpp"
#include "tessera/matmul/verify.hpp"

namespace tessera::bench {

struct Judgement {
  double max_error_ratio = 0;  ///< largest |error| / bound over all elements of all products
  std::string fault;           ///< the first wrong element
  bool good() const { return fault.empty(); }
};

class Judge {
 public:
  /// Computes the expected results. `progress` is called with the completed share.
  Judge(const SharedOperands& operands, index_t products,
        const std::function<void(double)>& progress);
  Judgement check(const SharedOperands& results, Arithmetic arithmetic) const;

 private:
  std::vector<Verifier> verifiers_;  // one for each product
};

}  // namespace tessera::bench
