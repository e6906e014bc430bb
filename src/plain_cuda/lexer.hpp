// Preprocessed C++ as tokens, each with its position in the user's file according to the line
// markers. Comments, directives and white space are the gaps between tokens. Brackets are paired
// here, once, so that all later passes take time linear in the text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::plain_cuda {

struct Token {
  enum class Kind { name, number, text, mark };  ///< text: string or character; mark: one character
  Kind kind = Kind::mark;
  std::size_t begin = 0, end = 0;  ///< in the text
  int file = 0;                    ///< index into Tokens::files
  int line = 0, column = 0;        ///< of that file, from 1; columns are bytes
  bool is_system_macro = false;    ///< below a marker with flag 3
};

/// A file that a line marker names.
struct SourceFile {
  std::string name;        ///< as the marker spells it, without the quotes
  bool is_system = false;  ///< entered with flag 3
};

class Tokens {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  std::string_view text;
  std::vector<Token> all;
  std::vector<SourceFile> files;
  std::vector<std::size_t> pairs;    ///< for a bracket its partner, for <<< its >>>; kNone
  std::vector<std::size_t> parents;  ///< the bracket that encloses this token; kNone

  std::size_t size() const { return all.size(); }
  const Token& operator[](std::size_t i) const { return all[i]; }
  const SourceFile& file(std::size_t i) const {
    return files[static_cast<std::size_t>(all[i].file)];
  }
  std::string_view spelling(std::size_t i) const {
    return text.substr(all[i].begin, all[i].end - all[i].begin);
  }
  bool is(std::size_t i, std::string_view word) const {
    return i < all.size() && spelling(i) == word;
  }
  bool is_kind(std::size_t i, Token::Kind kind) const {
    return i < all.size() && all[i].kind == kind;
  }
  /// `count` adjacent marks `c` begin at token i.
  bool is_run(std::size_t i, char c, std::size_t count) const;
  /// "file:line:column".
  std::string place(std::size_t i) const;
  /// The token after the one at i, or after the bracket that closes it.
  std::size_t after(std::size_t i) const {
    return i < pairs.size() && pairs[i] != kNone && pairs[i] > i ? pairs[i] + 1 : i + 1;
  }
};

/// Does this { begin a namespace, or extern "C"?
bool begins_namespace(const Tokens& tokens, std::size_t open);

/// A keyword of C++ that may precede an expression, and so names no function.
bool is_keyword(std::string_view word);

/// Splits `text`; `first` is the name of the file until a line marker names another.
Tokens tokens_of(std::string_view text, std::string first = {});

/// Pairs brackets, and the <<< of a launch with its >>>. Throws Error(argument) with the position
/// of an unpaired one.
void pair_brackets(Tokens& tokens);

}  // namespace tessera::plain_cuda
