// Counts them: see puzzle_braces.hpp.
#include "puzzle_braces.hpp"

#include <vector>

#include "puzzle_course.hpp"
#include "puzzle_source.hpp"
#include "tessera/core/text.hpp"

namespace tessera::cli {

namespace {

/// The braces of a line, but for those in comments and between quotes.
std::string braces_of(const std::string& line) {
  std::string out;
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0 && c == '\\') ++i;
    else if (quote != 0) quote = c == quote ? 0 : quote;
    else if (c == '"' || c == '\'') quote = c;
    else if (c == '{' || c == '}') out += c;
  }
  return out;
}

}  // namespace

Brace wrong_brace(const std::string& source) {
  struct Open {
    int line;
    std::size_t indent;
  };
  std::vector<Open> open;
  int suspect = 0, line = 0;
  for (const auto& whole : lines_of(source)) {
    const std::string text = without_comment(whole);
    const std::size_t indent = text.find_first_not_of(" \t");
    ++line;
    for (const char c : braces_of(text)) {
      if (c == '{') {
        open.push_back({line, indent});
        continue;
      }
      if (open.empty()) return {line, "there is one } too many, here or above"};
      if (suspect == 0 && open.back().indent != indent) suspect = open.back().line;
      open.pop_back();
    }
  }
  if (open.empty()) return {};
  return {suspect > 0 ? suspect : open.back().line, "a { is never closed: is it this one?"};
}

}  // namespace tessera::cli
