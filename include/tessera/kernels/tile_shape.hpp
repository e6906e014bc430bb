// The tile parameters of the ladder, as one value that serves as a template argument, prints and
// compares.
#pragma once

namespace tessera {

/// Extents of the tiles a kernel works in: block tile, then warp tile or thread tile where the
/// kernel has them.
struct TileShape {
  int bm = 0, bn = 0, bk = 0;  ///< rows, columns and depth of what one block stages
  int wm = 0, wn = 0;          ///< rows and columns of C that one warp owns (tensor_core)
  int tm = 0, tn = 0;          ///< rows and columns of C that one thread owns
  constexpr bool operator==(const TileShape&) const = default;
};

}  // namespace tessera
