// Shortens a compiler's messages: see compiler_messages.hpp.
#include "compiler_messages.hpp"

#include <sstream>
#include <string_view>

namespace tessera::cli {

namespace {

/// "tessera::Layout{...}" instead of the dozens of numbers between its braces.
std::string without_values(std::string_view line) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    out += line[i];
    const bool opens_value = line[i] == '{' && i > 0 && line[i - 1] != ' ' && line[i - 1] != ':';
    if (!opens_value || out.find("tessera::") == std::string::npos) continue;
    std::size_t end = i + 1;
    for (int depth = 1; end < line.size() && depth > 0; ++end)
      depth += line[end] == '{' ? 1 : line[end] == '}' ? -1 : 0;
    if (line[end - 1] != '}' || end - i < 16) continue;  // a tile or a block stays as it is
    out += "...}";
    i = end - 1;
  }
  return out;
}

bool is_context(std::string_view line) {
  for (const char* each : {"   required from ", ": In instantiation of ", ": In substitution of ",
                           "   recursively required ", " instantiation contexts, use "}) {
    if (line.find(each) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

std::string readable_messages(const std::string& said, const std::string& source) {
  std::istringstream lines(said);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    if (is_context(line) && !line.starts_with(source + ":")) continue;
    const bool quotes_source = line.find(" | ") != std::string::npos;
    out += (quotes_source ? line : without_values(line)) + "\n";
  }
  return out;
}

}  // namespace tessera::cli
