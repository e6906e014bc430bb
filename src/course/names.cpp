// Finds names: see names.hpp.
#include "names.hpp"

#include <algorithm>
#include <cstdlib>
#include <regex>
#include <set>

#include "shell/options.hpp"
#include "source.hpp"
#include "tessera/core/text.hpp"

namespace tessera::course {

namespace {

/// "K" of "K = extent<1>(A)"; "" if the kernel has no such line.
std::string declared_extent(const std::string& kernel, const std::string& tensor,
                            std::size_t mode) {
  const std::regex said(cat(R"((\w+)\s*=\s*(?:\w+\()?extent<)", mode, R"(>\()", tensor, R"(\))"));
  std::smatch match;
  return std::regex_search(kernel, match, said) ? match[1].str() : "";
}

std::string text_of(const PuzzleAttempt& attempt, const PuzzleCase& c) {
  const Loop kernel = kernel_named(attempt.source, c.kernel);
  const auto lines = lines_of(attempt.source);
  std::string out;
  for (int i = kernel.first; i <= kernel.last; ++i)
    out += without_comment(lines[static_cast<std::size_t>(i - 1)]) + "\n";
  return out;
}

}  // namespace

std::string constant_name(const PuzzleAttempt& attempt, index_t value) {
  static const std::regex number(R"((\w+)\s*=\s*(\d+)\s*[,;])");
  std::set<std::string> names;
  for (const auto& line : lines_of(attempt.source)) {
    if (!line.starts_with("constexpr ")) continue;
    for (std::sregex_iterator each(line.begin(), line.end(), number), end; each != end; ++each)
      if (std::atoll((*each)[2].str().c_str()) == value) names.insert((*each)[1]);
  }
  return names.size() == 1 ? *names.begin() : cat(value);
}

std::string extent_name(const PuzzleAttempt& attempt, const PuzzleCase& c,
                        const std::string& tensor, std::size_t mode, index_t extent) {
  const std::string kernel = text_of(attempt, c);
  if (const std::string own = declared_extent(kernel, tensor, mode); !own.empty()) return own;
  std::set<std::string> names;
  for (const auto& each : c.coverage)
    for (const std::size_t other : {0, 1})
      if ((other == 0 ? each.rows : each.cols) == extent)
        names.insert(declared_extent(kernel, each.tensor, other));
  names.erase("");
  return names.size() == 1 ? *names.begin() : constant_name(attempt, extent);
}

std::string block_name(const PuzzleAttempt& attempt, const PuzzleCase& c, std::size_t mode) {
  static const std::regex declared(R"(\bblock\{([^}]*)\})");
  const std::string kernel = text_of(attempt, c);
  std::smatch match;
  const std::string all = std::regex_search(kernel, match, declared) ? match[1].str() : "";
  const auto names = shell::split(all, ',');
  if (all.empty() || mode >= names.size()) return cat(c.block[mode]);
  const std::string name(
      names[mode].substr(std::min(names[mode].find_first_not_of(' '), names[mode].size())));
  const bool is_name = std::regex_match(name, std::regex(R"([A-Za-z_]\w*)"));
  return is_name ? name : cat(c.block[mode]);
}

}  // namespace tessera::course
