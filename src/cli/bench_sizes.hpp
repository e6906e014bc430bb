// The sizes a benchmark runs over, as people type them: 512, 64:1024:x2, 64:1024:+64,
// 4096x16x4096 (MxNxK), and lists of these joined by commas.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/core/config.hpp"

namespace tessera::cli {

struct Extents {
  index_t M = 0, N = 0, K = 0;
  bool operator==(const Extents&) const = default;
};

/// "512" for a cube, else "4096x16x4096".
std::string to_string(const Extents& extents);

/// Every extent named by `text`, in the order given, each once: numbers, ranges FIRST:LAST:xFACTOR
/// and FIRST:LAST:+STEP, joined by commas. LAST itself belongs to the range if a step meets it.
/// Throws Error(argument) that quotes the part it cannot read.
std::vector<index_t> parse_extents(std::string_view text);

/// Sizes for --sizes: as parse_extents for cubes, and MxNxK for others. Throws Error(argument).
std::vector<Extents> parse_sizes(std::string_view text);

/// Every combination of the three lists (-m, -n, -k); M changes slowest. Throws Error(argument)
/// when there are too many.
std::vector<Extents> all_combinations(const std::vector<index_t>& M, const std::vector<index_t>& N,
                                      const std::vector<index_t>& K);

}  // namespace tessera::cli
