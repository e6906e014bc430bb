// A learner's text as tokens of C++, with their positions: the tokens that a compiler's message
// mentions, and their surroundings. Not a parser; texts of any length are read in one pass.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::course {

struct SourceToken {
  enum class Kind { name, number, text, sign };
  Kind kind;
  std::string text;  ///< "row", "16", "\"load\"", "<="
  int line, column;  ///< from 1

  bool is(std::string_view other) const { return text == other; }
  bool is_name() const { return kind == Kind::name; }
  /// The column after it.
  int end() const { return column + static_cast<int>(text.size()); }
};
using SourceTokens = std::vector<SourceToken>;

/// Without comments and lines that begin with '#'. A quote that is never closed ends with its line.
SourceTokens tokens_of(std::string_view source);

/// The matching bracket of each { and }, ( and ), [ and ]; npos for all other tokens, and if there
/// is none.
constexpr std::size_t kNoToken = static_cast<std::size_t>(-1);
std::vector<std::size_t> matches_of(const SourceTokens& tokens);

/// The tokens from `first` to before `last` as they are written: "row, k + x".
std::string text_of_tokens(const SourceTokens& tokens, std::size_t first, std::size_t last);

/// A keyword of C++.
bool is_keyword(std::string_view name);
/// "float", "int", ...
bool is_builtin_type(std::string_view name);

}  // namespace tessera::course
