// Writes tokens at their positions: see placed_text.hpp.
#include "placed_text.hpp"

#include <algorithm>
#include <cctype>

#include "tessera/core/text.hpp"

namespace tessera::plain_cuda {

namespace {

/// The limit of padding: a text in one line would take quadratic time otherwise.
constexpr int kLastColumn = 1000;

bool is_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

void PlacedText::insert_before(std::size_t i, std::string text) {
  at(i).before.push_back({std::move(text)});
}
void PlacedText::insert_after(std::size_t i, std::string text) {
  at(i).after.push_back({std::move(text)});
}
void PlacedText::replace(std::size_t i, std::string text) {
  at(i).is_replaced = true;
  at(i).replacement = std::move(text);
}
void PlacedText::erase(std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i) replace(i, {});
}

std::string PlacedText::write() {
  out_.reserve(t_.text.size() + t_.text.size() / 4);
  write_range(0, t_.size(), 0);
  out_ += t_.text.substr(t_.size() == 0 ? 0 : t_[t_.size() - 1].end);
  return std::move(out_);
}

void PlacedText::write_range(std::size_t first, std::size_t last, std::size_t skip_from) {
  for (std::size_t i = first; i < last;) {
    const auto found = edits_.find(i);
    const Edit* const edit = found == edits_.end() ? nullptr : &found->second;
    if (edit != nullptr && edit->skip_to > i && i >= skip_from) {
      i = edit->skip_to;
      continue;
    }
    write_gap(i);
    if (edit != nullptr) write_pieces(edit->before);
    write_token(i, edit);
    if (edit != nullptr) write_pieces(edit->after);
    ++i;
  }
}

void PlacedText::write_pieces(const std::vector<Edit::Piece>& pieces) {
  for (const Edit::Piece& piece : pieces) {
    insert(piece.text);
    if (piece.first < piece.last) {
      previous_ = Tokens::kNone;
      write_range(piece.first, piece.last, piece.first + 1);
      previous_ = Tokens::kNone;
    }
  }
}

void PlacedText::write_token(std::size_t i, const Edit* edit) {
  const std::string_view spelling = t_.spelling(i);
  if (edit == nullptr || !edit->is_replaced) {
    go_to(i);
    advance(spelling);
  } else if (!edit->replacement.empty()) {
    go_to(i);
    insert(edit->replacement);
  } else if (file_ != t_[i].file || line_ != t_[i].line) {
    previous_ = Tokens::kNone;  // the text before it was omitted: the next token finds its line
    return;
  } else {
    std::string blanks(spelling);
    for (char& c : blanks) c = c == '\n' ? '\n' : ' ';
    advance(blanks);
  }
  previous_ = i;
  follows_ = edit == nullptr || !edit->is_replaced;
}

/// The text between the tokens i - 1 and i, if i - 1 was written last in its own line: its
/// directives are kept.
void PlacedText::write_gap(std::size_t i) {
  const bool follows = i == 0 ? out_.empty() : previous_ == i - 1;
  if (!follows) return;
  const std::size_t begin = i == 0 ? 0 : t_[i - 1].end;
  const std::string_view gap = t_.text.substr(begin, t_[i].begin - begin);
  advance(gap);
  if (gap.find('\n') == gap.npos) return;
  file_ = t_[i].file, line_ = t_[i].line;
  column_ = static_cast<int>(t_[i].begin - t_.text.rfind('\n', t_[i].begin));
}

void PlacedText::go_to(std::size_t i) {
  const Token& token = t_[i];
  // Adjacent marks may form one operator.
  const bool is_operator = token.kind == Token::Kind::mark && t_.is_kind(i - 1, token.kind);
  if (is_operator && follows_ && previous_ == i - 1 && t_[i - 1].end == token.begin) return;
  const int column = std::min(token.column, kLastColumn);
  const bool is_in_line =
      file_ == token.file && line_ == token.line && (column_ <= column || column_ >= kLastColumn);
  const bool would_join = column_ >= column && !out_.empty() && is_of_word(out_.back()) &&
                          is_of_word(t_.text[token.begin]);
  if (!is_in_line || would_join) {
    const std::string& file = t_.file(i).name;
    out_ += cat("\n# ", token.line);
    if (!file.empty()) out_ += cat(" \"", file, "\"", token.is_system_macro ? " 3" : "");
    out_ += '\n';
    file_ = token.file, line_ = token.line, column_ = 1;
  }
  if (column_ >= column) return;
  out_.append(static_cast<std::size_t>(column - column_), ' ');
  column_ = column;
}

void PlacedText::insert(std::string_view text) {
  advance(text);
  follows_ = false;
}

void PlacedText::advance(std::string_view text) {
  out_ += text;
  const auto newline = text.rfind('\n');
  if (newline == text.npos) {
    column_ += static_cast<int>(text.size());
  } else {
    line_ += static_cast<int>(std::count(text.begin(), text.end(), '\n'));
    column_ = static_cast<int>(text.size() - newline);
  }
}

}  // namespace tessera::plain_cuda
