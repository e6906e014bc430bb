// Kernels in plain CUDA: the spec's program starts the learner's as a child for each launch, since
// that one may crash or end at any time, and reads its report and results.
#pragma once

#include <string>

#include "tessera/puzzle/run.hpp"

namespace tessera::puzzle {

struct CudaProgram {
  std::string program;  ///< the file; see plain_cuda/parts/puzzle_launch.h; empty: there is none
  std::string scope;    ///< the namespace of its kernels
  std::string file;     ///< the learner's name of the text
};

/// Runs the launch there. Outputs are unchanged if the program has not finished. Throws Error.
check::Report run_cuda_launch(const CudaProgram& cuda, const check::Options& options,
                              const detail::CudaLaunch& launch);

}  // namespace tessera::puzzle
