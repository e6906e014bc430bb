// Throws errors about invalid files. Every message starts with the path.
#pragma once

#include <cstring>
#include <string>
#include <string_view>

#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::io {

/// 'text', cut after 40 bytes.
inline std::string in_quotes(std::string_view text) { return "'" + printable(text, 40) + "'"; }

/// The name of an output in messages.
inline std::string shown_output(std::string_view path) {
  return path == "-" ? "standard output" : printable(path, 1000);
}

inline std::string errno_text(int code) { return std::strerror(code); }

/// Reports that the input at `path` is unreadable or invalid.
[[noreturn]] inline void bad_file(std::string_view path, std::string_view problem,
                                  std::string expected = {}, std::string got = {},
                                  std::string advice = {}) {
  throw Error(Category::file, printable(path, 1000) + ": " + std::string(problem),
              std::move(expected), std::move(got), std::move(advice));
}

}  // namespace tessera::io
