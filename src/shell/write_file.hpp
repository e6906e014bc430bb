// What the command writes beside its output: pages and reports.
#pragma once

#include <string>

#include "context.hpp"

namespace tessera::shell {

/// Says so where replacing the file at `path` leaves its old content under other names.
void note_other_names(const Context& context, const std::string& path);

/// Writes a file, whole or not at all, and says so. Without `force` an existing file is refused.
void write_file(const Context& context, const std::string& path, bool force,
                const std::string& text);

}  // namespace tessera::shell
