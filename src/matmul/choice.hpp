// Which kernel and tile a problem takes where none is named. Private to src/matmul.
#pragma once

#include <string>
#include <string_view>

#include "tessera/matmul/plan.hpp"

namespace tessera::detail {

struct Choice {
  std::string_view algorithm;
  TileShape tile;
  std::string_view reason, others;  ///< why it, and why none of the others
};

/// May it be taken where none is named? It gives the same bits as the others; of 16-bit elements a
/// GPU's matrix units are the first choice too.
bool is_free_choice(const Algorithm& a, const Problem& p, bool on_cuda);
/// Of options that name no algorithm; the device by its canonical name.
Choice choose(const Problem& p, const Options& options, const std::string& device_name);

}  // namespace tessera::detail
