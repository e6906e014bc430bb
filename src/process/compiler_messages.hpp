// A compiler's messages about a file, shortened for its author.
#pragma once

#include <string>
#include <string_view>

namespace tessera::process {

/// `said` without the path through this library by which GCC reaches a template ("required from"),
/// and with the values of layouts, which are types here, as "{...}". Keeps messages about lines of
/// `source`, and every error.
std::string readable_messages(const std::string& said, const std::string& source);

/// "tessera::Layout{...}" instead of the dozens of numbers between its braces.
std::string without_values(std::string_view line);

/// An error without the arguments of this library's templates: "mma() does not take these
/// arguments".
std::string in_plain_words(std::string_view line);

}  // namespace tessera::process
