// Which tiles a kernel supports: the rules of its static_asserts and of the launcher, at run time,
// with the numbers of one tile; tests/house/tile_rules_test.py holds the two equal. Private to
// src/matmul.
#pragma once

#include <string>

#include "tessera/kernels/tile_shape.hpp"

namespace tessera::detail {

/// Why no kernel of a family can have this tile with elements of this size; empty where one can.
using TileRule = std::string (*)(const TileShape& tile, int element_bytes);

std::string elementwise_tile(const TileShape& tile, int element_bytes);    ///< BMxBN threads
std::string row_tile(const TileShape& tile, int element_bytes);            ///< 1xBN threads
std::string staged_tile(const TileShape& tile, int element_bytes);         ///< BMxBNxBK
std::string cube_tile(const TileShape& tile, int element_bytes);           ///< BM = BN = BK
std::string column_tile(const TileShape& tile, int element_bytes);         ///< .../TMx1
std::string register_tile(const TileShape& tile, int element_bytes);       ///< .../TMxTN
std::string wide_register_tile(const TileShape& tile, int element_bytes);  ///< the same by fours
std::string pipelined_tile(const TileShape& tile, int element_bytes);   ///< BK = 16, three stages
std::string bulk_tile(const TileShape& tile, int element_bytes);        ///< .../TMxTN, BK = 32
std::string warp_tile(const TileShape& tile, int element_bytes);        ///< .../WMxWN
std::string warpgroup_tile(const TileShape& tile, int element_bytes);   ///< BMxBN/WMxBN
std::string three_bf16_tile(const TileShape& tile, int element_bytes);  ///< the same
std::string thin_tile(const TileShape& tile, int element_bytes);        ///< BMxBN
std::string no_tile(const TileShape& tile, int element_bytes);          ///< takes none

/// "{.bm = 24, .bn = 24, .bk = 24}", as a program writes it.
std::string initializer_text(const TileShape& tile);

}  // namespace tessera::detail
