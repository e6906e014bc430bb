// The tile parameters of the ladder, as one value that serves as a template argument, prints and
// compares.
#pragma once

namespace tessera {

/// Extents of the tiles a kernel works in: block tile, then warp tile or thread tile where the
/// kernel has them, then the neighbouring tiles whose blocks form a cluster.
struct TileShape {
  int bm = 0, bn = 0, bk = 0;  ///< rows, columns and depth of what one block stages
  int wm = 0, wn = 0;          ///< rows and columns of C that one warp owns (tensor_core)
  int tm = 0, tn = 0;          ///< rows and columns of C that one thread owns
  int cm = 0, cn = 0;          ///< tiles down and across in a cluster (warpgroup); 0: no cluster
  constexpr bool operator==(const TileShape&) const = default;
};

/// Neighbouring tiles of C whose blocks share what they load.
struct ClusterShape {
  int down = 1, across = 1;
  constexpr bool operator==(const ClusterShape&) const = default;
};
constexpr ClusterShape cluster_of(const TileShape& tile) {
  return tile.cm == 0 ? ClusterShape{} : ClusterShape{tile.cm, tile.cn};
}

}  // namespace tessera
