// The names of shared storage: a report knows a tile of it by shape and byte, the kernel's source
// by a member of its Shared, "s.b". C++20 cannot ask a type for its members' names, so they are
// read from the lines of the source at which the tile was touched. What no line tells for sure
// stays.
#pragma once

#include "tessera/check/html_report.hpp"
#include "tessera/check/report.hpp"

namespace tessera::check {

/// Calls the tiles of shared storage in findings and samples as the kernel's source does.
void name_shared_tiles(Report& report, const SourceReader& source = read_source);

}  // namespace tessera::check
