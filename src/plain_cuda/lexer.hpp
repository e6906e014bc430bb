// The tokens of preprocessed C++, with the line and column of the user's file that each is from.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::plain_cuda {

struct Token {
  enum class Kind { name, number, text, mark };  ///< text: string or character; mark: one character
  Kind kind = Kind::mark;
  std::size_t begin = 0, end = 0;  ///< in the preprocessed text
  int file = 0;                    ///< number in Tokens::files
  int line = 0, column = 0;        ///< of that file, from 1
};

struct File {
  std::string name;
  bool is_system = false;
};

struct Tokens {
  std::string_view text;
  std::vector<Token> all;
  std::vector<File> files;

  std::string_view spelling(std::size_t i) const {
    return text.substr(all[i].begin, all[i].end - all[i].begin);
  }
  bool is(std::size_t i, std::string_view word) const {
    return i < all.size() && spelling(i) == word;
  }
  /// Of each bracket its pair; all.size() where it has none, and for all else.
  std::vector<std::size_t> pairs;

  /// The index behind the bracket that closes the one at `open`; all.size() where none does.
  std::size_t behind_bracket(std::size_t open) const {
    return pairs[open] < all.size() ? pairs[open] + 1 : all.size();
  }
};

/// Line markers (# 12 "file.cu" 3) say where tokens are from; directives and comments have none.
/// Time linear in the length of the text.
Tokens tokens_of(std::string_view preprocessed);

}  // namespace tessera::plain_cuda
