// A model of how long a kernel of the ladder takes for a product on an H200: what bounds its blocks
// (CUDA cores, matrix units and the shared memory they read, L2), how evenly they fill the
// multiprocessors, and the bytes of the matrices. It orders candidates before anything is measured.
// Private to src/matmul.
#pragma once

#include "tuning.hpp"

namespace tessera::detail {

double modelled_seconds(const Problem& problem, const Candidate& candidate);

}  // namespace tessera::detail
