// What other components call of this one, in the build of ./demo, which has no runtime for plain
// CUDA.
#include "build.hpp"
#include "launch_source.hpp"

namespace tessera::plain_cuda {

namespace {

[[noreturn]] void refuse_plain_cuda() {
  throw Error(Category::unavailable, "the build of ./demo does not check plain CUDA", {}, {},
              "'scripts/build' makes all of the command");
}

}  // namespace

std::filesystem::path build(const Build&, const std::filesystem::path&) { refuse_plain_cuda(); }
std::string extents_used(std::string_view) { refuse_plain_cuda(); }

}  // namespace tessera::plain_cuda
