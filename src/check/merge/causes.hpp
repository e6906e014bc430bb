// One finding for each cause: a missing wait or barrier shows in every tile of a ring of stages,
// and further findings at the same elements often have the same cause. Private to src/check.
#pragma once

#include "tessera/check/report.hpp"

namespace tessera::check {

/// Call it after the suppressions, which refer to single tiles.
void merge_causes(Report& report);

}  // namespace tessera::check
