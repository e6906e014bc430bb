// In place of on_gpu.cu in builds without CUDA.
#include "on_gpu.hpp"
#include "tessera/core/error.hpp"

namespace tessera::primitives {

Dump record_on_gpu(std::string_view) {
  throw Error(Category::unavailable, "this program was built without CUDA", {}, {},
              "build it by scripts/build cuda, or judge a dump by --from");
}

}  // namespace tessera::primitives
