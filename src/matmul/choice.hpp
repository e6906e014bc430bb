// The default choice of kernel and tile for a problem. Private to src/matmul.
#pragma once

#include <string>
#include <string_view>

#include "tessera/device/devices.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::detail {

struct Choice {
  std::string_view algorithm;
  TileShape tile;
  std::string reason;       ///< why this one
  std::string_view others;  ///< and why none of the others
};

/// May it be a default choice? It must give the same bits as the others; for 16-bit elements a
/// GPU's matrix units qualify too.
bool is_free_choice(const Algorithm& a, const Problem& p, bool on_cuda);
/// Of options that name no algorithm.
Choice choose(const Problem& p, const Options& options, const Device& device);

}  // namespace tessera::detail
