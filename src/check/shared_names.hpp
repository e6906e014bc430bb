// The names of shared storage: a report knows a tile of it by shape and byte, the kernel's source
// by a member of its Shared, "s.b". C++20 has no reflection, so the names are read from the source
// lines that touch the tile. An ambiguous tile keeps its generic name.
#pragma once

#include "tessera/check/html_report.hpp"
#include "tessera/check/report.hpp"

namespace tessera::check {

/// Renames the tiles of shared storage in findings and samples as in the kernel's source.
void name_shared_tiles(Report& report, const SourceReader& source = read_source);

}  // namespace tessera::check
