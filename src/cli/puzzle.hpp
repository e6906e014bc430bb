// `tessera puzzle`, which the whole command and the build of the course alone add to their trees.
#pragma once

#include "course/program.hpp"

namespace CLI {
class App;
}
namespace tessera::shell {
struct Context;
}

namespace tessera::cli {

/// `build_cuda`: null in a build without plain CUDA.
void add_puzzle(CLI::App& root, shell::Context& context, course::CudaBuilder build_cuda);

}  // namespace tessera::cli
