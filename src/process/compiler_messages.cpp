// Shortens a compiler's messages: see compiler_messages.hpp.
#include "compiler_messages.hpp"

#include <algorithm>
#include <cctype>
#include <regex>
#include <sstream>
#include <string_view>
#include <vector>

#include "tessera/core/text.hpp"

namespace tessera::process {

namespace {

bool is_context(std::string_view line) {
  for (const char* each : {"   required from ", ": In instantiation of ", ": In substitution of ",
                           "   recursively required ", " instantiation contexts, use "}) {
    if (line.find(each) != std::string_view::npos) return true;
  }
  return false;
}

bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The position after the bracket that closes the one at `at`, of any kind.
std::size_t behind_arguments(std::string_view line, std::size_t at) {
  constexpr std::string_view opening = "<{(", closing = ">})";
  int depth = 0;
  do {
    depth += opening.find(line[at]) != opening.npos   ? 1
             : closing.find(line[at]) != closing.npos ? -1
                                                      : 0;
  } while (++at < line.size() && depth > 0);
  return at;
}

/// "Tensor" instead of "tessera::Tensor<float*, tessera::Layout{...}, tessera::Whole>".
std::string without_arguments(std::string_view line) {
  constexpr std::string_view library = "tessera::";
  std::string out;
  for (std::size_t i = 0; i < line.size();) {
    if (!line.substr(i).starts_with(library)) {
      out += line[i++];
      continue;
    }
    i += library.size();
    while (i < line.size() && !out.ends_with("operator")) {
      if (line[i] == '<' || line[i] == '{') i = behind_arguments(line, i);
      else if (line.substr(i).starts_with("::")) out += "::", i += 2;
      else if (is_of_name(line[i])) out += line[i++];
      else break;
    }
  }
  return out;
}

}  // namespace

std::string in_plain_words(std::string_view line) {
  struct Words {
    std::regex said;
    const char* plain;
  };
  static const Words words[] = {
      {std::regex(R"(no matching (?:member )?function for call to (?:‘|')(?:\w+::)*(\w+)[^\w].*)"),
       "$1() does not take these arguments"},
      {std::regex(
           R"(there are no arguments to ((?:‘|')\w+(?:’|')) that depend on a template parameter.*)"),
       "$1 was not declared in this scope"},
      {std::regex(R"(invalid use of non-static member function (?:‘|')[^(]*\b(\w+)\(.*)"),
       "$1 is a function: its brackets are missing"},
      {std::regex(R"(no match for ((?:‘|')operator[^’']*(?:’|')) in .*\(operand types)"),
       "no match for $1 (operand types"},
      {std::regex(R"( \{aka [^}]*\}| \[-fpermissive\])"), ""}};
  std::string out = without_arguments(line);
  for (const Words& each : words) out = std::regex_replace(out, each.said, each.plain);
  return out;
}

std::string without_values(std::string_view line) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    out += line[i];
    const bool opens_value = line[i] == '{' && i > 0 && line[i - 1] != ' ' && line[i - 1] != ':';
    if (!opens_value || out.find("tessera::") == std::string::npos) continue;
    std::size_t end = i + 1;
    for (int depth = 1; end < line.size() && depth > 0; ++end)
      depth += line[end] == '{' ? 1 : line[end] == '}' ? -1 : 0;
    if (line[end - 1] != '}' || end - i < 16) continue;  // tiles and blocks keep their arguments
    out += "...}";
    i = end - 1;
  }
  return out;
}

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

}  // namespace tessera::process
