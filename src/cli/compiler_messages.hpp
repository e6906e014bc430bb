// What a compiler said of a file, for the one who wrote the file.
#pragma once

#include <string>

namespace tessera::cli {

/// `said` without the way through this library by which GCC comes to a template ("required from"),
/// and with the values of layouts, which are types here, as "{...}". What stands at a line of
/// `source` is kept, and so is every error.
std::string readable_messages(const std::string& said, const std::string& source);

}  // namespace tessera::cli
