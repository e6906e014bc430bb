// "key=value key="quoted value" ..." read and written: the text form of problems and plans. Private
// to src/matmul.
#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::detail {

struct Field {
  std::string_view key;
  std::string value;
};

/// Splits a line into fields. `what` names the thing in messages ("problem"). Throws
/// Error(argument).
inline std::vector<Field> parse_fields(std::string_view text, std::string_view what) {
  std::vector<Field> out;
  std::size_t at = 0;
  const auto fail = [&](std::string_view why) {
    throw Error(Category::argument, cat(what, ": cannot read '", text.substr(at, 40), "'"),
                std::string(why));
  };
  while (true) {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
    if (at == text.size()) return out;
    const auto equals = text.find('=', at);
    if (equals == std::string_view::npos || equals == at) fail("key=value, separated by blanks");
    Field field{text.substr(at, equals - at), {}};
    if (field.key.find(' ') != std::string_view::npos) fail("key=value, separated by blanks");
    at = equals + 1;
    if (at < text.size() && text[at] == '"') {
      for (++at;; ++at) {
        if (at == text.size()) fail("a closing quotation mark");
        if (text[at] == '"') break;
        if (text[at] == '\\' && at + 1 < text.size()) ++at;
        field.value += text[at];
      }
      ++at;
    } else {
      while (at < text.size() && text[at] != ' ' && text[at] != '\t') field.value += text[at++];
    }
    for (const auto& earlier : out) {
      if (earlier.key == field.key)
        throw Error(Category::argument, cat(what, ": '", field.key, "' is given twice"));
    }
    out.push_back(std::move(field));
  }
}

/// The number of field `what` of a `thing` ("problem"). Throws Error(argument).
template <class Number>
Number parse_number(std::string_view text, std::string_view thing, std::string_view what) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw Error(Category::argument, cat(thing, ": ", what, " is no number in range"), "a number",
                cat("'", text, "'"));
  }
  return value;
}

/// Shortest text that reads back as the same double.
inline std::string exact_text(double value) {
  char buffer[40];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, end};
}

inline std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + '"';
}

}  // namespace tessera::detail
