// Splits C++ into tokens: see lexer.hpp.
#include "lexer.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>

#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::plain_cuda {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_name(char c) { return is_name_start(c) || is_digit(c); }

class Lexer {
 public:
  Lexer(std::string_view text, std::string first) : text_(text) {
    out_.text = text;
    out_.files.push_back({std::move(first), false});
  }

  Tokens run() {
    while (at_ < text_.size()) step();
    return std::move(out_);
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  /// A backslash that joins two lines: its length, or 0.
  std::size_t splice() const {
    if (peek() != '\\') return 0;
    if (peek(1) == '\n') return 2;
    return peek(1) == '\r' && peek(2) == '\n' ? 3 : 0;
  }
  void go_to(std::size_t end) {
    for (end = std::min(end, text_.size()); at_ < end; ++at_) {
      if (text_[at_] == '\n') ++line_, line_begin_ = at_ + 1;
    }
  }
  void step() {
    const char c = peek();
    if (c == '\n') {
      go_to(at_ + 1);
      starts_line_ = true;
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++at_;
    } else if (const std::size_t length = splice(); length > 0) {
      go_to(at_ + length);
    } else if (c == '/' && peek(1) == '/') {
      go_to(end_of_logical_line());
    } else if (c == '/' && peek(1) == '*') {
      const auto close = text_.find("*/", at_ + 2);
      go_to(close == text_.npos ? close : close + 2);
    } else if (c == '#' && starts_line_) {
      directive();
    } else {
      starts_line_ = false;
      token(c);
    }
  }
  void token(char c) {
    if (is_name_start(c)) return name();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (c == '"' || c == '\'') return quoted(at_);
    add(Token::Kind::mark, at_, at_ + 1);
  }
  void add(Token::Kind kind, std::size_t begin, std::size_t end) {
    out_.all.push_back({kind, begin, end, file_, line_, static_cast<int>(begin - line_begin_) + 1,
                        is_system_macro_});
    go_to(end);
  }
  std::size_t end_of_logical_line() const {
    std::size_t end = at_;
    while (end < text_.size()) {
      end = std::min(text_.find('\n', end), text_.size());
      const bool is_joined = end > at_ && (text_[end - 1] == '\\' ||
                                           (end > at_ + 1 && text_.substr(end - 2, 2) == "\\\r"));
      if (!is_joined || end == text_.size()) break;
      ++end;
    }
    return end;
  }
  void name() {
    const std::size_t begin = at_;
    std::size_t end = at_;
    while (end < text_.size() && is_name(text_[end])) ++end;
    const std::string_view word = text_.substr(begin, end - begin);
    const char next = end < text_.size() ? text_[end] : '\0';
    const auto is_one_of = [&](std::initializer_list<std::string_view> words) {
      return std::find(words.begin(), words.end(), word) != words.end();
    };
    if (next == '"' && is_one_of({"R", "u8R", "uR", "UR", "LR"})) return raw(begin, end);
    if ((next == '"' || next == '\'') && is_one_of({"u8", "u", "U", "L"})) {
      return quoted(end);
    }
    add(Token::Kind::name, begin, end);
  }
  /// A preprocessing number: 1'000, 0x1p-3, 1e+5f, 3_km.
  void number() {
    std::size_t end = at_ + 1;
    for (; end < text_.size(); ++end) {
      const char c = text_[end], before = static_cast<char>(text_[end - 1] | 32);
      const bool is_sign = (c == '+' || c == '-') && (before == 'e' || before == 'p') &&
                           (before == 'p' || !is_hexadecimal());
      const bool is_separator = c == '\'' && end + 1 < text_.size() && is_name(text_[end + 1]);
      if (!is_name(c) && c != '.' && !is_sign && !is_separator) break;
    }
    add(Token::Kind::number, at_, end);
  }
  bool is_hexadecimal() const { return peek() == '0' && (peek(1) | 32) == 'x'; }
  /// A string or character whose quote is at `open`; its prefix begins at at_.
  void quoted(std::size_t open) {
    std::size_t end = open + 1;
    while (end < text_.size() && text_[end] != text_[open] && text_[end] != '\n')
      end += text_[end] == '\\' ? 2U : 1U;
    const bool is_closed = end < text_.size() && text_[end] == text_[open];
    add(Token::Kind::text, at_, std::min(is_closed ? end + 1 : end, text_.size()));
  }
  void raw(std::size_t begin, std::size_t quote) {
    constexpr std::size_t kLongestDelimiter = 16;
    const auto open = text_.substr(0, quote + kLongestDelimiter + 2).find('(', quote);
    if (open == text_.npos) return quoted(quote);
    const std::string close = cat(")", text_.substr(quote + 1, open - quote - 1), "\"");
    const auto end = text_.find(close, open);
    add(Token::Kind::text, begin, end == text_.npos ? text_.size() : end + close.size());
  }

  /// `# 12 "file.cu" 3`, or a line with another directive.
  void directive() {
    const std::size_t end = end_of_logical_line();
    std::string_view rest = text_.substr(at_ + 1, end - at_ - 1);
    const auto skip_blanks = [&] {
      rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    };
    skip_blanks();
    if (rest.starts_with("line")) rest.remove_prefix(4), skip_blanks();
    go_to(end);
    int line = 0;
    const auto [last, error] = std::from_chars(rest.data(), rest.data() + rest.size(), line);
    if (error != std::errc()) return;
    rest.remove_prefix(static_cast<std::size_t>(last - rest.data()));
    const auto open = rest.find('"'), close = rest.rfind('"');
    if (open != rest.npos && close > open) {
      const std::string_view flags = rest.substr(close + 1);
      is_system_macro_ = flags.find('3') != flags.npos;
      enter(std::string(rest.substr(open + 1, close - open - 1)));
    }
    go_to(at_ + 1);  // the line's end
    starts_line_ = true;
    line_ = line;
  }
  void enter(const std::string& name) {
    const auto [found, is_new] = numbers_.try_emplace(name, static_cast<int>(out_.files.size()));
    // Macros of system headers have flag 3 where the user expands them: only the first marker shows
    // it.
    if (is_new) out_.files.push_back({name, is_system_macro_});
    file_ = found->second;
  }

  std::string_view text_;
  Tokens out_;
  std::map<std::string, int> numbers_;
  std::size_t at_ = 0, line_begin_ = 0;
  int file_ = 0, line_ = 1;
  bool starts_line_ = true, is_system_macro_ = false;
};

class Pairs {
 public:
  explicit Pairs(Tokens& tokens) : t_(tokens) {}

  void run() {
    t_.pairs.assign(t_.size(), Tokens::kNone);
    t_.parents.assign(t_.size(), Tokens::kNone);
    for (std::size_t i = 0; i < t_.size(); ++i) {
      if (!t_.is_kind(i, Token::Kind::mark)) {
        t_.parents[i] = top();
        continue;
      }
      const char c = t_.text[t_[i].begin];
      if (c == ')' || c == ']' || c == '}') close(i, c == ')' ? '(' : c == ']' ? '[' : '{');
      else if (is_end_of_configuration(i)) close(i, '<');
      t_.parents[i] = top();
      if (c == '<' && is_launch(i)) open_launch(i);
      else if (c == '(' || c == '[' || c == '{') open_.push_back(i);
    }
    if (!open_.empty()) refuse(open_.back());
  }

 private:
  std::size_t top() const { return open_.empty() ? Tokens::kNone : open_.back(); }
  char top_mark() const { return open_.empty() ? '\0' : t_.text[t_[open_.back()].begin]; }

  bool is_launch(std::size_t i) const {
    if (!t_.is_run(i, '<', 3) || t_.is(i - 1, "operator")) return false;
    const bool is_inside = i > 0 && t_.is(i - 1, "<") && t_[i - 1].end == t_[i].begin;
    return !is_inside;
  }
  /// The last three of adjacent > before the launch's arguments.
  bool is_end_of_configuration(std::size_t i) const {
    if (top_mark() != '<' || !t_.is_run(i, '>', 3)) return false;
    return !t_.is(i + 3, ">") || t_[i + 3].begin != t_[i + 2].end;
  }
  void open_launch(std::size_t i) {
    constexpr int kDeepest = 100;  // moving them is recursive
    if (++launches_ > kDeepest)
      throw Error(Category::argument,
                  cat(t_.place(i), ": launches within launches, more than ", kDeepest, " deep"));
    open_.push_back(i);
  }
  void close(std::size_t i, char wanted) {
    if (top_mark() == '<' && wanted != '<') refuse(open_.back());
    if (top_mark() != wanted) refuse(i);
    t_.pairs[i] = open_.back();
    t_.pairs[open_.back()] = i;
    open_.pop_back();
    if (wanted == '<') --launches_;
  }
  [[noreturn]] void refuse(std::size_t i) const {
    const std::string_view mark = t_.spelling(i);
    if (mark == "<")
      throw Error(Category::argument, cat(t_.place(i), ": this <<< has no >>>"),
                  "kernel<<<grid, block>>>(arguments)");
    throw Error(Category::argument, cat(t_.place(i), ": this ", mark, " has no pair"));
  }

  Tokens& t_;
  std::vector<std::size_t> open_;
  int launches_ = 0;
};

}  // namespace

bool Tokens::is_run(std::size_t i, char c, std::size_t count) const {
  if (i + count > all.size()) return false;
  for (std::size_t k = 0; k < count; ++k) {
    const Token& token = all[i + k];
    if (text[token.begin] != c || token.kind != Token::Kind::mark ||
        token.begin != all[i].begin + k)
      return false;
  }
  return true;
}

std::string Tokens::place(std::size_t i) const {
  return cat(file(i).name, ":", all[i].line, ":", all[i].column);
}

Tokens tokens_of(std::string_view text, std::string first) {
  return Lexer(text, std::move(first)).run();
}

void pair_brackets(Tokens& tokens) { Pairs(tokens).run(); }

bool begins_namespace(const Tokens& t, std::size_t open) {
  constexpr std::size_t kLongest = 256;  // name, in tokens
  std::size_t at = open;
  while (at > 0 && open - at < kLongest) {
    if (t.is_kind(at - 1, Token::Kind::name)) --at;
    else if (at > 1 && t.is(at - 1, ":") && t.is(at - 2, ":")) at -= 2;
    else break;
    if (t.is(at, "namespace")) return true;
  }
  return t.is_kind(open - 1, Token::Kind::text) && t.is(open - 2, "extern");
}

bool is_keyword(std::string_view word) {
  static constexpr std::string_view kWords[] = {
      "return",   "else",   "do",        "throw",  "case",   "co_return", "co_yield",
      "co_await", "if",     "while",     "for",    "switch", "goto",      "and",
      "or",       "not",    "xor",       "bitand", "bitor",  "compl",     "sizeof",
      "new",      "delete", "constexpr", "and_eq", "or_eq",  "xor_eq",    "not_eq"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

}  // namespace tessera::plain_cuda
