// The default choice of kernel and tile for a problem. Private to src/matmul.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tessera/device/devices.hpp"
#include "tuning.hpp"

namespace tessera::detail {

struct Choice {
  std::string_view algorithm;
  TileShape tile;
  std::string reason;                        ///< why this one
  std::string_view others;                   ///< and why none of the others
  std::vector<SlowerCandidate> slower = {};  ///< those that were measured
  int parts = 1;                             ///< of K
};

/// May it be a default choice? It must give the same bits as the others; for elements of one and
/// two bytes a GPU's matrix units qualify too.
bool is_free_choice(const Algorithm& a, const Problem& p, bool on_cuda);
/// Of options that name no algorithm.
Choice choose(const Problem& p, const Options& options, const Device& device);

/// "4 stages, clusters of 2 x 1 blocks": a kernel on CUDA beside its tile; empty where there is
/// nothing to say.
std::string described(const Problem& p, std::string_view algorithm, const TileShape& tile);

}  // namespace tessera::detail
