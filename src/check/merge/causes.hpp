// One finding for each cause: a missing wait or barrier shows in every tile of a ring of stages,
// and further findings at the same elements often have the same cause. Private to src/check.
#pragma once

#include <vector>

#include "check/block/result.hpp"

namespace tessera::check {

/// Marks what follows from an earlier mistake of the same cluster: a ring of stages goes on after a
/// wait that is missing, in phases that nobody waits for.
void find_consequences(std::vector<BlockResult>& cluster);

/// `mistakes`: those that the findings of the report describe. Call it after the suppressions,
/// which refer to single tiles.
void merge_causes(Report& report, const std::vector<Mistake>& mistakes);

}  // namespace tessera::check
