// Headers that a program includes but that are not available: their position, from the compiler's
// messages or from the line markers of the preprocessed text.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::plain_cuda {

template <class Each>
void for_each_line(std::string_view text, const Each& each) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    each(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

struct HeaderInclude {
  std::string header, file;  ///< the file that includes it, as the compiler names it
  long line = 0;
  std::vector<std::pair<std::string, long>> from;  ///< the files that include it, inner ones first
};

/// The header that GCC or Clang has not found.
std::optional<HeaderInclude> missing_header(std::string_view messages);

/// Is it a header of CUDA's toolkit or of a library based on it?
bool is_of_toolkit(std::string_view header);

/// The first header of a toolkit that is in its folder or leads to a definition of CUDA's own
/// types, besides those in the folder `ours`.
std::optional<HeaderInclude> toolkit_header(std::string_view preprocessed, std::string_view ours);

}  // namespace tessera::plain_cuda
