// One report of a program that launches several kernels, or one kernel many times.
#pragma once

#include "tessera/check/report.hpp"

namespace tessera::check {

/// Adds the results of a further launch: findings of one kind between the same positions are
/// merged, counters of a line are summed, and the kernels are listed.
void merge_report(Report& all, Report&& next);

}  // namespace tessera::check
