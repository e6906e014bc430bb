// Matches them: see brackets.hpp.
#include "brackets.hpp"

#include <string_view>
#include <vector>

#include "tessera/core/text.hpp"

namespace tessera::course {

namespace {

class BracketReader {
 public:
  explicit BracketReader(const SourceTokens& tokens) : tokens_(tokens) {}

  BracketFault read() {
    for (at_ = 0; at_ < tokens_.size() && fault_.line == 0; ++at_) one();
    if (fault_.line == 0 && !open_.empty()) never_closed();
    return fault_;
  }

 private:
  struct Open {
    char bracket;
    std::size_t token;
    int indent;          ///< of its line
    int semicolons = 0;  ///< that its header may still contain
  };

  static std::string_view partner(char bracket) {
    return bracket == '(' ? ")" : bracket == '[' ? "]" : "}";
  }
  const SourceToken& here() const { return tokens_[at_]; }
  /// The column where the line of a token begins.
  int indent_of(std::size_t at) const {
    while (at > 0 && tokens_[at - 1].line == tokens_[at].line) --at;
    return tokens_[at].column;
  }
  bool begins_line() const { return at_ == 0 || tokens_[at_ - 1].line != here().line; }

  void one() {
    const std::string& text = here().text;
    if (here().kind == SourceToken::Kind::text) {
      if (text.size() < 2 || text.back() != text.front())
        report(at_, cat("a ", text.front(), " is never closed"),
               cat("the text ends with ", text.front()));
    } else if (text == "(" || text == "[" || text == "{") {
      const bool is_for = at_ > 0 && tokens_[at_ - 1].is("for");
      open_.push_back({text[0], at_, indent_of(at_), is_for ? 2 : 0});
    } else if (text == ";") {
      if (!open_.empty() && open_.back().bracket != '{' && open_.back().semicolons-- == 0) {
        if (closes_in_this_line())
          report(at_, "this ; is inside brackets",
                 "a , between arguments; and a for has two ; in its brackets");
        else left_open();
      }
    } else if (text == ")" || text == "]" || text == "}") {
      close(text[0]);
    }
  }

  void close(char c) {
    if (open_.empty()) return too_many(c);
    const Open& top = open_.back();
    if (partner(top.bracket)[0] == c) {
      const bool is_brace_alone = c == '}' && begins_line();
      if (is_brace_alone && suspect_ == kNoToken && top.indent != here().column)
        suspect_ = at_, opens_suspect_ = top.token;
      open_.pop_back();
    } else if (top.bracket != '{') {
      left_open();
    } else if (at_ > 0 && (tokens_[at_ - 1].is(";") || tokens_[at_ - 1].is("}")) &&
               open_.size() > 1 && open_[open_.size() - 2].bracket == '(') {
      report(top.token, "a { is never closed",
             cat("the } belongs before the ) in line ", here().line));
    } else {
      report(at_, cat("this ", c, " closes nothing: there is one too many"),
             cat("take one ", c, " away, or write its other one"));
    }
  }

  /// Is the innermost bracket closed later in this line?
  bool closes_in_this_line() const {
    int depth = 1;
    for (std::size_t i = at_ + 1; i < tokens_.size() && tokens_[i].line == here().line; ++i) {
      const std::string& text = tokens_[i].text;
      depth += text == "(" || text == "[" ? 1 : text == ")" || text == "]" ? -1 : 0;
      if (depth == 0) return true;
    }
    return false;
  }

  /// The innermost bracket, at a position where it must be closed already.
  void left_open() {
    const Open& top = open_.back();
    const auto other = partner(top.bracket);
    const int line = tokens_[top.token].line;
    report(top.token, cat("a ", top.bracket, " is never closed: its ", other, " is missing"),
           here().line == line
               ? cat("the ", other, " belongs in this line")
               : cat("the ", other, " belongs before the ", here().text, " in line ", here().line));
  }
  void too_many(char c) {
    if (c == '}' && suspect_ != kNoToken)
      return report(suspect_,
                    cat("there is one } too many: is it this one? It closes the { of line ",
                        tokens_[opens_suspect_].line),
                    "each { has one }");
    report(at_, cat("there is one ", c, " too many, here or above"),
           c == '}' ? "each { has one }" : "each ( has one )");
  }
  void never_closed() {
    const Open& top = open_.back();
    if (top.bracket != '{')
      return report(
          top.token,
          cat("a ", top.bracket, " is never closed: its ", partner(top.bracket), " is missing"),
          cat("write the ", partner(top.bracket)));
    const std::size_t at = suspect_ == kNoToken ? top.token : opens_suspect_;
    report(at, "a { is never closed: is it this one?",
           "each { has one }: count those below this line");
  }
  void report(std::size_t at, std::string says, std::string advice) {
    fault_ = {tokens_[at].line, tokens_[at].column, std::move(says), std::move(advice)};
  }

  const SourceTokens& tokens_;
  std::size_t at_ = 0;
  std::vector<Open> open_;
  /// a } whose indentation differs from its {
  std::size_t suspect_ = kNoToken, opens_suspect_ = 0;
  BracketFault fault_;
};

}  // namespace

BracketFault wrong_bracket(const SourceTokens& tokens) { return BracketReader(tokens).read(); }

}  // namespace tessera::course
