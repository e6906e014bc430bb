// A product of matrices whose distribution all ranks know. Called by matmul() of distributed
// matrices, which sends it to the ranks, and by the drop-in for ScaLAPACK, where everybody can
// compute it.
#pragma once

#include <limits>

#include "shares.hpp"
#include "tessera/io/array.hpp"
#include "tessera/scale/distributed.hpp"

namespace tessera::scale {

/// A part of a matrix and its owner.
struct Named {
  Part part;
  index_t owner = 0;
};

/// All parts of all ranks, without empty ones; those of one rank in the order of its own parts.
struct Owners {
  std::vector<Named> a, b, c;
};

/// Chooses the boxes for which least is sent, and runs them; false, with nothing sent, where that
/// is more than `most_sent` bytes of all ranks together. `plan`: of the whole product on the packed
/// path. The elements of A travel in the order `order_a`, row by row (c) or column by column, those
/// of B in `order_b`.
bool multiply_parts(Transport& ranks, const Plan& plan, const Owners& owners,
                    const Distributed<ConstMatrix>& A, Order order_a,
                    const Distributed<ConstMatrix>& B, Order order_b, const Distributed<Matrix>& C,
                    double most_sent = std::numeric_limits<double>::infinity());

/// The plan of the packed path for a product of distributed matrices.
Plan plan_of_parts(const Distributed<ConstMatrix>& A, const Distributed<ConstMatrix>& B,
                   const Distributed<Matrix>& C, double alpha, double beta, const Options& options);

}  // namespace tessera::scale
