// The checks of launch(), compiled once: everything that can be wrong with a grid, a block or
// shared storage is refused before the first thread runs.
#include "tessera/simt/launch.hpp"

#include <limits>

namespace tessera::detail {

namespace {

[[noreturn]] void refuse_blocks(const char* kernel, const std::string& grid) {
  throw Error(Category::argument, cat("launch: kernel ", kernel, " has too many blocks"),
              cat("at most ", std::numeric_limits<int>::max()), grid, "use larger tiles");
}

}  // namespace

void refuse_grid(const char* kernel, index_t x, index_t y) {
  refuse_blocks(kernel, cat("(", x, ",", y, ",1)"));
}

void check_clusters(const char* kernel, Dim3 grid, Dim3 cluster) {
  if (grid.x % cluster.x == 0 && grid.y % cluster.y == 0 && grid.z % cluster.z == 0) return;
  throw Error(Category::argument,
              cat("launch: kernel ", kernel, " runs in clusters of ", to_string(cluster),
                  " blocks, of which its grid is no multiple"),
              "extents that are multiples of the cluster's", to_string(grid),
              "round the grid up: blocks beyond the last tile run too, and have nothing to do");
}

Position block_of_cluster(index_t number, int rank, Dim3 cluster, Dim3 grid) {
  const Dim3 clusters{grid.x / cluster.x, grid.y / cluster.y, grid.z / cluster.z};
  const Position first = position_of(static_cast<int>(number), clusters);
  const Position in = position_of(rank, cluster);
  Position out{first.x * cluster.x + in.x, first.y * cluster.y + in.y, first.z * cluster.z + in.z};
  out.linear = out.x + grid.x * (out.y + grid.y * out.z);
  return out;
}

void check_launch(const char* kernel, const LaunchConfig& config, std::size_t shared_bytes,
                  Dim3 declared, Dim3 cluster) {
  const Dim3 b = config.block, g = config.grid;
  if (b.x < 1 || b.y < 1 || b.z < 1) {
    throw Error(Category::argument, cat("launch: kernel ", kernel, " has a block without threads"),
                "extents of 1 or more", to_string(b),
                cat("give it 1 to ", kMaxBlockThreads, " threads"));
  }
  if (index_t{b.x} * b.y > kMaxBlockThreads || volume(b) > kMaxBlockThreads) {
    throw Error(Category::argument,
                cat("launch: kernel ", kernel, " has too many threads in a block"),
                cat("at most ", kMaxBlockThreads), to_string(b), "use smaller tiles");
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
    refuse_blocks(kernel, to_string(g));
  }
  check_clusters(kernel, g, cluster);
  if (config.threads < 0) {
    throw Error(Category::argument,
                cat("launch: kernel ", kernel, " has a negative number of OS threads"),
                "1 or more, or 0 for the default", cat(config.threads));
  }
  if (shared_bytes > kMaxSharedBytes) {
    throw Error(Category::argument,
                cat("launch: kernel ", kernel, " needs too much shared storage"),
                cat("at most ", kMaxSharedBytes, " bytes"), cat(shared_bytes, " bytes"),
                "use smaller tiles");
  }
}

}  // namespace tessera::detail
