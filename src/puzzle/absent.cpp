// Instead of cuda_launch.cpp in a build of the course alone, which has no plain CUDA.
#include "cuda_launch.hpp"
#include "tessera/core/error.hpp"

namespace tessera::puzzle {

check::Report run_cuda_launch(const CudaProgram&, const check::Options&,
                              const detail::CudaLaunch&) {
  throw Error(Category::unavailable, "this build of the command has no plain CUDA", {}, {},
              "scripts/build makes the whole command");
}

}  // namespace tessera::puzzle
