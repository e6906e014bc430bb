// One finding for each cause: a wait or a barrier that is missing shows in every tile of a ring of
// stages, and what is done to the same elements by one mistake is not another one. Private to
// src/check.
#pragma once

#include "tessera/check/report.hpp"

namespace tessera::check {

/// After the suppressions, which speak of single tiles.
void merge_causes(Report& report);

}  // namespace tessera::check
