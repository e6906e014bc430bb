// The checks of launch(), compiled once: everything that can be wrong with a grid, a block or
// shared storage is refused before the first thread runs.
#include "tessera/simt/launch.hpp"

#include <limits>

namespace tessera::detail {

void check_launch(const char* kernel, const LaunchConfig& config, std::size_t shared_bytes,
                  Dim3 declared) {
  const Dim3 b = config.block, g = config.grid;
  if (b.x < 1 || b.y < 1 || b.z < 1 || volume(b) > kMaxBlockThreads) {
    throw Error(Category::argument,
                cat("launch: kernel ", kernel, " cannot run with a block of ", to_string(b)),
                cat("1 to ", kMaxBlockThreads, " threads"), cat(volume(b)), "use smaller tiles");
  }
  if (declared != Dim3{0, 0, 0} && declared != b) {
    throw Error(Category::argument,
                cat("launch: kernel ", kernel, " is written for another block size"),
                to_string(declared), to_string(b), "launch it with its own block size");
  }
  if (g.x < 0 || g.y < 0 || g.z < 0) {
    throw Error(Category::argument, cat("launch: kernel ", kernel, " has a negative grid"),
                "extents of 0 or more", to_string(g));
  }
  if (index_t{g.x} * g.y > std::numeric_limits<int>::max() ||
      volume(g) > std::numeric_limits<int>::max()) {
    throw Error(Category::argument, cat("launch: kernel ", kernel, " has too many blocks"),
                cat("at most ", std::numeric_limits<int>::max()), to_string(g), "use larger tiles");
  }
  if (shared_bytes > kMaxSharedBytes) {
    throw Error(Category::argument,
                cat("launch: kernel ", kernel, " needs too much shared storage"),
                cat("at most ", kMaxSharedBytes, " bytes"), cat(shared_bytes, " bytes"),
                "use smaller tiles");
  }
}

}  // namespace tessera::detail
