// Headers that a program includes and that are not offered: where, by the compiler's messages or by
// the line marks of what is preprocessed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::plain_cuda {

struct HeaderInclude {
  std::string header, file;  ///< the file that includes it, as the compiler calls it
  long line = 0;
  std::vector<std::pair<std::string, long>> from;  ///< what includes that file, inner ones first
};

/// The header that GCC or Clang has not found.
std::optional<HeaderInclude> missing_header(std::string_view messages);

/// Is it a header of CUDA's toolkit or of a library that builds on it?
bool is_of_toolkit(std::string_view header);

/// The first header of a toolkit, in its folder or leading to a definition of CUDA's own types,
/// beside those in the folder `ours`.
std::optional<HeaderInclude> toolkit_header(std::string_view preprocessed, std::string_view ours);

}  // namespace tessera::plain_cuda
