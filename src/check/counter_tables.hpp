// Counters as tables of a text report: by line, by superstep, by kind of instruction. Private to
// src/check.
#pragma once

#include <string>
#include <vector>

#include "tessera/check/report.hpp"

namespace tessera::check {

/// Requests by line and by superstep: how many to global and shared memory, what each of them
/// takes, how many lanes take part, operations.
std::string line_table(const Report& report);
std::string superstep_table(const Report& report);

/// What the warps of the kernel carried out, a row for each kind of which there is any.
std::string instruction_table(const Counters& total);

/// What the counters do not hold, or hold by a rule that nobody has measured. One sentence each.
std::vector<std::string> counter_notes(const Counters& total);

}  // namespace tessera::check
