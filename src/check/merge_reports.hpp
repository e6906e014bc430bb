// One report of a program that launches several kernels, or one kernel many times.
#pragma once

#include "tessera/check/report.hpp"

namespace tessera::check {

/// Adds what a further launch showed: findings of one kind between the same places are one,
/// counters of a line are summed, and the kernels are listed.
void merge_report(Report& all, Report&& next);

}  // namespace tessera::check
