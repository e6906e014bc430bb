// What a compiler said of a file, for the one who wrote the file.
#pragma once

#include <string>
#include <string_view>

namespace tessera::process {

/// `said` without the way through this library by which GCC comes to a template ("required from"),
/// and with the values of layouts, which are types here, as "{...}". What stands at a line of
/// `source` is kept, and so is every error.
std::string readable_messages(const std::string& said, const std::string& source);

/// "tessera::Layout{...}" instead of the dozens of numbers between its braces.
std::string without_values(std::string_view line);

/// An error without the arguments of this library's templates: "mma() does not take these
/// arguments".
std::string in_plain_words(std::string_view line);

}  // namespace tessera::process
