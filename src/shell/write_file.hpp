// Files that the command writes besides its output: pages and reports.
#pragma once

#include <string>

#include "context.hpp"

namespace tessera::shell {

/// Warns if replacing the file at `path` leaves its old content under other names.
void note_other_names(const Context& context, const std::string& path);

/// Writes a file, complete or not at all, and reports it. Without `force` an existing file is
/// refused.
void write_file(const Context& context, const std::string& path, bool force,
                const std::string& text);

}  // namespace tessera::shell
