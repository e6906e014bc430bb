// check_matmul(plan, A, B, C): runs the plan's kernel under the checker instead of by itself. C
// holds afterwards what run() leaves there.
#pragma once

#include "tessera/check/check.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera {

/// Names of the algorithms that can be checked: the kernels of the ladder.
std::vector<std::string> checked_algorithms();

/// The report of the plan's kernel. Names of tensors, the problem's text, order, seed and whether
/// C holds anything (beta = 0: nothing) come from the plan. Throws Error(unavailable) where the
/// algorithm is no kernel of threads and blocks, or is not compiled for the checker in this tile
/// and type.
check::Report check_matmul(const Plan& plan, const ConstMatrix& A, const ConstMatrix& B,
                           const Matrix& C, const check::Options& options = {},
                           const void* bias = nullptr);

}  // namespace tessera
