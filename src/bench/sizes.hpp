// The shapes of a benchmark as people type them: 512, 64:1024:x2, 64:1024:+64, 4096x16x4096
// (MxNxK), 1000x8x8x8 (a batch), each optionally followed by -TN and the like, lists of these
// joined by commas, and suites: named lists.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "case.hpp"

namespace tessera::bench {

/// Every extent named by `text`, in the order given, each once: numbers, ranges FIRST:LAST:xFACTOR
/// and FIRST:LAST:+STEP, joined by commas. LAST itself belongs to the range if a step meets it.
/// Throws Error(argument) that quotes the part it cannot read.
std::vector<index_t> parse_extents(std::string_view text);

/// As parse_extents for --threads: each from 1 to 4096.
std::vector<index_t> parse_thread_counts(std::string_view text);

/// Shapes for --sizes: as parse_extents for cubes, and MxNxK, BATCHxMxNxK and transposed ones.
/// Inverse of to_string(Shape). Throws Error(argument).
std::vector<Shape> parse_sizes(std::string_view text);

/// Every combination of the three lists (-m, -n, -k); M changes slowest. Throws Error(argument) if
/// there are too many.
std::vector<Shape> all_combinations(const std::vector<index_t>& M, const std::vector<index_t>& N,
                                    const std::vector<index_t>& K);

/// The suites' names, and "all".
std::vector<std::string> suite_names();
/// The shapes of the suites named in `text`, joined by commas. Throws Error(argument) with the
/// nearest name.
std::vector<Shape> suite_shapes(std::string_view text);

}  // namespace tessera::bench
