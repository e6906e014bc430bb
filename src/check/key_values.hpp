// Parses "key=value key="two words"", the syntax of suppressions and of --stop-at. Private to
// src/check.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::check {

using KeyValues = std::vector<std::pair<std::string, std::string>>;

/// `where` begins messages: "known.txt:3". Throws Error(category).
inline KeyValues parse_key_values(std::string_view text, const std::string& where,
                                  Category category) {
  constexpr std::string_view blanks = " \t\r";
  KeyValues out;
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    if (text.empty()) return out;
    const auto equals = text.find_first_of("= \t\r");
    if (equals == std::string_view::npos || equals == 0 || text[equals] != '=')
      throw Error(category, cat(where, ": not KEY=VALUE"), {},
                  cat("'", text.substr(0, text.find_first_of(blanks)), "'"),
                  "write values with blanks in double quotes");
    const std::string key(text.substr(0, equals));
    text.remove_prefix(equals + 1);
    const bool is_quoted = text.starts_with('"');
    if (is_quoted) text.remove_prefix(1);
    const auto end = is_quoted ? text.find('"') : std::min(text.find_first_of(blanks), text.size());
    if (end == std::string_view::npos)
      throw Error(category, cat(where, ": the quotes of ", key, " do not end"));
    if (end == 0) throw Error(category, cat(where, ": ", key, " has no value"));
    for (const auto& [known, value] : out) {
      if (known == key) throw Error(category, cat(where, ": ", key, " is given twice"));
    }
    out.emplace_back(key, text.substr(0, end));
    text.remove_prefix(end + (is_quoted ? 1 : 0));
  }
}

}  // namespace tessera::check
