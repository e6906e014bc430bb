// Cuts preprocessed C++ into tokens: see lexer.hpp.
#include "lexer.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>

namespace tessera::plain_cuda {

namespace {

bool is_name_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_name(char c) {
  return is_name_start(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {
    out_.text = text;
    out_.files.push_back({});
  }

  Tokens run() {
    while (at_ < text_.size()) step();
    pair_brackets();
    return std::move(out_);
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  void newline() {
    ++at_, ++line_;
    line_begin_ = at_;
    starts_line_ = true;
  }
  void step() {
    const char c = peek();
    if (c == '\n') return newline();
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++at_;
      return;
    }
    if (c == '#' && starts_line_) return directive();
    if (c == '/' && peek(1) == '/') return skip_until("\n");
    if (c == '/' && peek(1) == '*') {
      at_ += 2;
      skip_until("*/");
      at_ = std::min(at_ + 2, text_.size());
      return;
    }
    starts_line_ = false;
    if (is_name_start(c)) return name();
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 ||
        (c == '.' && std::isdigit(static_cast<unsigned char>(peek(1))) != 0))
      return number();
    if (c == '"' || c == '\'') return quoted(at_);
    add(Token::Kind::mark, at_, at_ + 1);
  }
  void add(Token::Kind kind, std::size_t begin, std::size_t end) {
    out_.all.push_back({kind, begin, end, file_, line_, static_cast<int>(begin - line_begin_) + 1});
    at_ = end;
  }
  void pair_brackets() {
    out_.pairs.assign(out_.all.size(), out_.all.size());
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < out_.all.size(); ++i) {
      if (out_.all[i].kind != Token::Kind::mark) continue;
      const char c = text_[out_.all[i].begin];
      if (c == '(' || c == '[' || c == '{') open.push_back(i);
      if (c != ')' && c != ']' && c != '}') continue;
      const char wanted = c == ')' ? '(' : c == ']' ? '[' : '{';
      if (open.empty() || text_[out_.all[open.back()].begin] != wanted) continue;
      out_.pairs[i] = open.back(), out_.pairs[open.back()] = i;
      open.pop_back();
    }
  }
  void skip_until(std::string_view end) {
    while (at_ < text_.size() && text_.substr(at_, end.size()) != end) {
      if (peek() == '\n') newline();
      else ++at_;
    }
  }
  void name() {
    const std::size_t begin = at_;
    while (is_name(peek())) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    const bool is_prefix =
        word == "R" || word == "u8R" || word == "uR" || word == "UR" || word == "LR";
    if (is_prefix && peek() == '"') return raw(begin);
    if ((word == "u8" || word == "u" || word == "U" || word == "L") &&
        (peek() == '"' || peek() == '\''))
      return quoted(begin);
    add(Token::Kind::name, begin, at_);
  }
  void number() {
    const std::size_t begin = at_;
    while (is_name(peek()) || peek() == '.' || (peek() == '\'' && is_name(peek(1))) ||
           ((peek() == '+' || peek() == '-') && is_exponent(text_[at_ - 1], begin)))
      ++at_;
    add(Token::Kind::number, begin, at_);
  }
  bool is_exponent(char before, std::size_t begin) const {
    const bool is_hex =
        text_.size() > begin + 1 && text_[begin] == '0' && (text_[begin + 1] | 32) == 'x';
    return is_hex ? (before | 32) == 'p' : (before | 32) == 'e';
  }
  void quoted(std::size_t begin) {
    const char quote = peek();
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n')
      end += text_[end] == '\\' ? 2 : 1;
    add(Token::Kind::text, begin, std::min(end + 1, text_.size()));
  }
  void raw(std::size_t begin) {
    const auto open = text_.find('(', at_);
    if (open == text_.npos || open - at_ > 17) return quoted(begin);
    const std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    auto end = text_.find(close, open);
    end = end == text_.npos ? text_.size() : end + close.size();
    add(Token::Kind::text, begin, end);
    for (std::size_t i = begin; i < end; ++i) {
      if (text_[i] == '\n') ++line_, line_begin_ = i + 1;
    }
  }
  /// `# 12 "file.cu" 3` or another line that begins with #.
  void directive() {
    auto end = text_.find('\n', at_);
    if (end == text_.npos) end = text_.size();
    std::string_view rest = text_.substr(at_ + 1, end - at_ - 1);
    const auto skip_blanks = [&] {
      while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\t')) rest.remove_prefix(1);
    };
    skip_blanks();
    if (rest.starts_with("line")) rest.remove_prefix(4), skip_blanks();
    const bool is_marker =
        !rest.empty() && std::isdigit(static_cast<unsigned char>(rest.front())) != 0;
    at_ = end;
    if (!is_marker) return;
    const int line = std::atoi(std::string(rest.substr(0, 12)).c_str());
    const auto open = rest.find('"'), close = rest.rfind('"');
    if (open != rest.npos && close > open) {
      const std::string_view flags = rest.substr(close + 1);
      set_file(std::string(rest.substr(open + 1, close - open - 1)), flags.find('3') != flags.npos);
    }
    if (at_ < text_.size()) newline();
    line_ = line;
  }
  void set_file(const std::string& name, bool is_system) {
    const auto [found, is_new] = numbers_.try_emplace(name, static_cast<int>(out_.files.size()));
    if (is_new) out_.files.push_back({name, is_system});
    file_ = found->second;
  }

  std::string_view text_;
  Tokens out_;
  std::map<std::string, int> numbers_;
  std::size_t at_ = 0, line_begin_ = 0;
  int file_ = 0, line_ = 1;
  bool starts_line_ = true;
};

}  // namespace

Tokens tokens_of(std::string_view preprocessed) { return Lexer(preprocessed).run(); }

}  // namespace tessera::plain_cuda
