// The rules that turn counters into advice. Private to src/check.
#pragma once

#include <vector>

#include "tessera/check/explain.hpp"
#include "tessera/check/memory_rules.hpp"

namespace tessera::check {

/// 128 bytes.
inline constexpr double kSectorsPerClock = 4;

/// Clocks for which the data stages of all SMs are busy.
double data_stage_cycles(const Counters& counters, bool shared, bool global);

/// All advice that follows from the counters, the most important first. `scale`: blocks of the grid
/// per checked block.
std::vector<Advice> advice_on(const Report& report, const Explanation& e, double scale);

}  // namespace tessera::check
