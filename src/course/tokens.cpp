// The lexer: see tokens.hpp.
#include "tokens.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace tessera::course {

namespace {

using TokenKind = SourceToken::Kind;

constexpr std::array<std::string_view, 22> kSigns{
    "<<=", ">>=", "...", "->*", "::", "->", "++", "--", "<<", "<=", ">=",
    "==",  "!=",  "&&",  "||",  "+=", "-=", "*=", "/=", "%=", "&=", "|="};

class TokenReader {
 public:
  explicit TokenReader(std::string_view source) : source_(source) {}

  SourceTokens read() {
    while (at_ < source_.size()) one();
    return std::move(out_);
  }

 private:
  char here() const { return source_[at_]; }
  bool begins(std::string_view text) const { return source_.substr(at_).starts_with(text); }
  static bool is_letter(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
  }

  void one() {
    if (here() == '\n') {
      ++at_, ++line_;
      line_begin_ = at_, is_line_empty_ = true;
    } else if (std::isspace(static_cast<unsigned char>(here())) != 0) {
      ++at_;
    } else if (begins("//") || (here() == '#' && is_line_empty_)) {
      at_ = std::min(source_.find('\n', at_), source_.size());
    } else if (begins("/*")) {
      skip_comment();
    } else {
      token();
    }
  }

  void skip_comment() {
    const std::size_t end = std::min(source_.find("*/", at_ + 2), source_.size());
    for (; at_ < end; ++at_)
      if (here() == '\n') ++line_, line_begin_ = at_ + 1;
    at_ = std::min(at_ + 2, source_.size());
  }

  void token() {
    is_line_empty_ = false;
    const char c = here();
    const bool is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (begins("R\"")) raw_text();
    else if (c == '"' || c == '\'') add(TokenKind::text, quoted());
    else if (is_digit) add(TokenKind::number, number());
    else if (is_letter(c)) add(TokenKind::name, end_of(is_letter));
    else add(TokenKind::sign, sign());
  }

  template <class Belongs>
  std::size_t end_of(Belongs belongs) const {
    std::size_t end = at_ + 1;
    while (end < source_.size() && belongs(source_[end])) ++end;
    return end;
  }
  /// "0.5f", "1'000"
  std::size_t number() const {
    std::size_t end = at_ + 1;
    const auto has_digit = [&](std::size_t at) {
      return at < source_.size() && std::isalnum(static_cast<unsigned char>(source_[at])) != 0;
    };
    while (end < source_.size() && (is_letter(source_[end]) || source_[end] == '.' ||
                                    (source_[end] == '\'' && has_digit(end + 1))))
      ++end;
    return end;
  }
  /// R"x(...)x"
  void raw_text() {
    const std::size_t open = std::min(source_.find('(', at_), source_.size());
    const std::string close = ")" + std::string(source_.substr(at_ + 2, open - at_ - 2)) + "\"";
    const std::size_t end = std::min(source_.find(close, open), source_.size());
    const std::size_t begin = at_;
    out_.push_back({TokenKind::text, "\"\"", line_, static_cast<int>(at_ - line_begin_) + 1});
    at_ = std::min(end + close.size(), source_.size());
    for (std::size_t i = begin; i < at_; ++i)
      if (source_[i] == '\n') ++line_, line_begin_ = i + 1;
  }
  std::size_t quoted() const {
    std::size_t end = at_ + 1;
    for (; end < source_.size() && source_[end] != '\n'; ++end) {
      if (source_[end] == here()) return end + 1;
      if (source_[end] == '\\' && end + 1 < source_.size() && source_[end + 1] != '\n') ++end;
    }
    return end;
  }
  std::size_t sign() const {
    for (const auto each : kSigns)
      if (begins(each)) return at_ + each.size();
    return at_ + 1;
  }
  void add(TokenKind kind, std::size_t end) {
    out_.push_back({kind, std::string(source_.substr(at_, end - at_)), line_,
                    static_cast<int>(at_ - line_begin_) + 1});
    at_ = end;
  }

  std::string_view source_;
  std::size_t at_ = 0, line_begin_ = 0;
  int line_ = 1;
  bool is_line_empty_ = true;
  SourceTokens out_;
};

constexpr std::array<std::string_view, 14> kBuiltin{
    "float",  "double", "int",  "bool",    "long",   "short", "unsigned",
    "signed", "char",   "void", "index_t", "size_t", "auto",  "half_t"};
constexpr std::array<std::string_view, 47> kKeywords{
    "if",     "else",     "for",     "while",     "do",       "switch",    "case",       "default",
    "break",  "continue", "return",  "const",     "static",   "constexpr", "struct",     "class",
    "enum",   "union",    "using",   "namespace", "typename", "template",  "operator",   "sizeof",
    "new",    "delete",   "throw",   "try",       "catch",    "public",    "private",    "this",
    "true",   "false",    "nullptr", "and",       "or",       "not",       "mutable",    "noexcept",
    "inline", "volatile", "goto",    "decltype",  "extern",   "typedef",   "static_cast"};

}  // namespace

SourceTokens tokens_of(std::string_view source) { return TokenReader(source).read(); }

std::vector<std::size_t> matches_of(const SourceTokens& tokens) {
  constexpr std::string_view opening = "({[", closing = ")}]";
  std::vector<std::size_t> out(tokens.size(), kNoToken), open;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind != TokenKind::sign || tokens[i].text.size() != 1) continue;
    const char c = tokens[i].text[0];
    const auto at = closing.find(c);
    if (opening.find(c) != opening.npos) open.push_back(i);
    if (at == closing.npos || open.empty() || tokens[open.back()].text[0] != opening[at]) continue;
    out[i] = open.back(), out[open.back()] = i;
    open.pop_back();
  }
  return out;
}

std::string text_of_tokens(const SourceTokens& tokens, std::size_t first, std::size_t last) {
  std::string out;
  for (std::size_t i = first; i < last && i < tokens.size(); ++i) {
    const bool is_apart = i > first && (tokens[i].line != tokens[i - 1].line ||
                                        tokens[i].column > tokens[i - 1].end());
    out += (is_apart ? " " : "") + tokens[i].text;
  }
  return out;
}

bool is_keyword(std::string_view name) {
  return std::find(kKeywords.begin(), kKeywords.end(), name) != kKeywords.end();
}

bool is_builtin_type(std::string_view name) {
  return std::find(kBuiltin.begin(), kBuiltin.end(), name) != kBuiltin.end();
}

}  // namespace tessera::course
