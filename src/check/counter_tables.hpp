// Counters as tables of a text report: by line, by superstep, by kind of instruction. Private to
// src/check.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tessera/check/report.hpp"

namespace tessera::check {

/// Requests by line and by superstep: how many to global and shared memory, the cost of each, how
/// many lanes take part, operations. Tables omit columns to fit into `columns` characters (0: any).
std::string line_table(const Report& report, std::size_t columns = 0);
std::string superstep_table(const Report& report, std::size_t columns = 0);

/// The executed warp instructions, a row for each kind that occurs.
std::string instruction_table(const Counters& total, std::size_t columns = 0);

/// What the counters omit, or count by a rule without a measurement. One sentence each.
std::vector<std::string> counter_notes(const Counters& total);

}  // namespace tessera::check
