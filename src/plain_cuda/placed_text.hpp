// Writes tokens so that each keeps its line and column: after each insertion, deletion or move, a
// line marker and blanks put the next token where the user has it, up to column 1000.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lexer.hpp"

namespace tessera::plain_cuda {

/// The changes around one token.
struct Edit {
  struct Piece {
    std::string text;
    std::size_t first = 0, last = 0;  ///< or these tokens, moved here
  };
  std::vector<Piece> before, after;
  std::string replacement;
  bool is_replaced = false;  ///< by `replacement`; if that is empty, by blanks
  std::size_t skip_to = 0;   ///< omits this token and all before that one
};

class PlacedText {
 public:
  explicit PlacedText(const Tokens& tokens) : t_(tokens) {}

  Edit& at(std::size_t i) { return edits_[i]; }
  void insert_before(std::size_t i, std::string text);
  void insert_after(std::size_t i, std::string text);
  void replace(std::size_t i, std::string text);
  void erase(std::size_t first, std::size_t last);

  std::string write();

 private:
  /// Tokens before `skip_from` are written, though they are omitted at their original position.
  void write_range(std::size_t first, std::size_t last, std::size_t skip_from);
  void write_pieces(const std::vector<Edit::Piece>& pieces);
  void write_token(std::size_t i, const Edit* edit);
  void write_gap(std::size_t i);
  void go_to(std::size_t i);
  void insert(std::string_view text);
  void advance(std::string_view text);

  const Tokens& t_;
  std::unordered_map<std::size_t, Edit> edits_;
  std::string out_;
  std::size_t previous_ = Tokens::kNone;  ///< the token written last
  bool follows_ = false;                  ///< nothing was inserted after it
  /// the position of the end of out_, as the compiler counts it
  int file_ = 0, line_ = 1, column_ = 1;
};

}  // namespace tessera::plain_cuda
