// Text that is not C++: a missing ; or comma, Python's keywords, a brace that closes too early.
#include <algorithm>
#include <regex>

#include "error_reasons.hpp"
#include "tessera/core/text.hpp"
#include "vocabulary.hpp"

namespace tessera::course {

namespace {

/// The token that a message points at: the one it names, or the first from its column on.
std::size_t token_of(const CompilerSays& error, const LearnersText& text) {
  static const std::regex before(R"(before '?([^' ]+)'?( token)?$)");
  std::smatch match;
  if (std::regex_search(error.message, match, before)) {
    const std::size_t at = text.find(match[1].str(), error.line, error.column);
    if (at != kNoToken) return at;
  }
  const auto range = text.line(error.line);
  for (std::size_t i = range.first; i < range.last; ++i)
    if (text.tokens[i].column >= error.column) return i;
  return range.last;
}

bool begins_statement(std::string_view word) {
  return word == "if" || word == "for" || word == "while" || word == "else" || word == "return";
}

/// "for (int k = 0, k < n, ++k)"
ErrorReason reason_of_header(const LearnersText& text, LearnersText::Range range) {
  for (std::size_t i = range.first; i + 1 < range.last; ++i) {
    if (!text.is("for", i) || !text.is("(", i + 1) || text.match[i + 1] == kNoToken) continue;
    int semicolons = 0;
    bool has_colon = false;
    for (std::size_t j = i + 2; j < text.match[i + 1]; ++j) {
      if (text.match[j] != kNoToken && text.match[j] > j) j = text.match[j];
      semicolons += text.is(";", j) ? 1 : 0;
      has_colon = has_colon || text.is(":", j);
    }
    if (semicolons != 2 && !has_colon)
      return {"for-header", "a for has three parts, with a ; between them",
              "for (int k = 0; k < n; ++k)", text.tokens[i].line, text.tokens[i].column};
  }
  return {};
}

/// "if i < SIZE:", "x if c else y", "for k in range(16):"
ErrorReason reason_of_python(const LearnersText& text, LearnersText::Range range) {
  if (range.first == range.last) return {};
  const std::string& first = text.tokens[range.first].text;
  const auto written = [&](const std::string& word, const std::string& here) {
    return ErrorReason{"python", cat("this ", word, " is written as in Python"), here};
  };
  for (std::size_t i = range.first; i < range.last; ++i) {
    if (text.is("for", i) && text.is("in", i + 2))
      return written("for", cat("for (int ", text.tokens[i + 1].text, " = 0; ",
                                text.tokens[i + 1].text, " < n; ++", text.tokens[i + 1].text, ")"));
    std::size_t other = i;  // "x if c else y": no ; in between
    while (other < range.last && !text.is("else", other) && !text.is(";", other) &&
           !text.is("{", other))
      ++other;
    const bool is_inside =
        i > range.first && !text.is("else", i - 1) && !text.is("{", i - 1) && !text.is(";", i - 1);
    if (text.is("if", i) && is_inside && text.is("else", other))
      return written("if", "condition ? this : that");
  }
  const bool ends = text.is(":", range.last - 1);
  if (first == "else" && text.is(":", range.first + 1)) return written("else", "else { ... }");
  const bool has_brackets = text.is("(", range.first + 1);
  bool has_colon = ends;
  for (std::size_t i = range.first; i < range.last; ++i)
    has_colon =
        has_colon || (text.is(":", i) && !text.line_has("?", text.tokens[range.first].line));
  if ((first == "if" || first == "while") && has_colon && !has_brackets)
    return written(first, cat(first, " (...) { ... }"));
  const std::size_t close = has_brackets ? text.match[range.first + 1] : kNoToken;
  if (ends && close != kNoToken && close + 2 < range.last)  // a statement follows the brackets
    return {"semicolon",
            cat("line ", text.tokens[range.first].line, " ends with a : where a ; belongs"), ";",
            text.tokens[range.last - 1].line, text.tokens[range.last - 1].column};
  if ((first == "if" || first == "while" || first == "for") && ends)
    return {"python", "a : begins a block in Python", cat(first, " (...) { ... }")};
  return {};
}

/// "if i < SIZE"
ErrorReason reason_of_condition(const CompilerSays& error, const LearnersText& text) {
  static const std::regex said(R"(expected '\(' (before|after '(if|for|while)'))");
  if (!std::regex_search(error.message, said)) return {};
  const std::size_t at = token_of(error, text);
  for (std::size_t i = at; i > 0 && i + 2 > at; --i)
    for (const char* word : {"if", "for", "while"})
      if (text.is(word, i - 1))
        return {"no-condition", cat("what follows ", word, " goes in round brackets"),
                cat(word, " (...)")};
  return {};
}

/// "2n"
ErrorReason reason_of_suffix(const CompilerSays& error, const LearnersText& text) {
  static const std::regex said(
      R"(numeric literal operator 'operator""\s?(\w+)'|invalid suffix '(\w+)' on)");
  std::smatch match;
  if (!std::regex_search(error.message, match, said)) return {};
  const std::string suffix = match[1].str() + match[2].str();
  const auto range = text.line(error.line);
  for (std::size_t i = range.first; i < range.last; ++i) {
    const SourceToken& token = text.tokens[i];
    if (token.kind != SourceToken::Kind::number || !token.text.ends_with(suffix)) continue;
    const std::string number = token.text.substr(0, token.text.size() - suffix.size());
    return {"operator-missing", cat("between ", number, " and ", suffix, " something is missing"),
            cat("an operator like *: ", number, " * ", suffix), token.line, token.column};
  }
  return {};
}

/// "return" without its ;, so that the next line is its value.
ErrorReason reason_of_open_return(const CompilerSays& error, const LearnersText& text) {
  static const std::regex said("return-statement with a value|should not return a value");
  if (!std::regex_search(error.message, said)) return {};
  const auto range = text.line(error.line);
  for (std::size_t i = range.last; i-- > 0;) {
    if (text.is(";", i) && i < range.first) break;
    const SourceToken& token = text.tokens[i];
    if (!text.is("return", i) || i + 1 >= text.tokens.size()) continue;
    if (text.tokens[i + 1].line == token.line) break;
    return {"semicolon", cat("the ; is missing after the return in line ", token.line), "return;",
            token.line, token.end()};
  }
  return {};
}

/// A ; that is missing at the end of a line, or between two words of one.
ErrorReason reason_of_semicolon(const CompilerSays& error, const LearnersText& text) {
  static const std::regex said(
      R"(expected (',' or )?';'|expected ',' or ';'|expected initializer before|expected unqualified-id before)");
  if (!std::regex_search(error.message, said)) return {};
  std::size_t at = token_of(error, text);
  const bool is_behind =
      error.message.find(" after ") != std::string::npos;  // Clang, and GCC of a struct
  if (is_behind) {                                         // at the end of what should end
    at = 0;
    while (at < text.tokens.size() &&
           (text.tokens[at].line < error.line ||
            (text.tokens[at].line == error.line && text.tokens[at].column < error.column)))
      ++at;
  }
  if (error.message.find("at end of member declaration") != std::string::npos &&
      at < text.tokens.size() && text.tokens[at].column <= error.column)
    ++at;  // GCC points at the last token of the member
  if (at == 0) return {};
  const SourceToken& before = text.tokens[at - 1];
  const bool is_last = at >= text.tokens.size();
  const bool is_next_line = is_last || text.tokens[at].line > before.line;
  const bool is_of_struct = error.message.find("struct") != std::string::npos;
  if (before.is(";") || before.is("{") || (before.is("}") && !is_of_struct)) return {};
  if (is_of_struct)
    return {"semicolon", "the ; is missing after the } that ends the struct", "};", before.line,
            before.end()};
  if (!is_next_line) return {};
  const KernelWord* const word =
      at > 1 && text.is(".", at - 2) ? kernel_word(before.text) : nullptr;
  if (word != nullptr && word->usage.find(cat(before.text, "()")) != std::string_view::npos)
    return {"semicolon", cat("() and ; are missing at the end of line ", before.line),
            cat(before.text, "();"), before.line, before.end()};
  if (before.is(","))
    return {"semicolon", cat("line ", before.line, " ends with a , where a ; belongs"), ";",
            before.line, before.column};
  return {"semicolon", cat("the ; is missing at the end of line ", before.line),
          cat(before.text, ";"), before.line, before.end()};
}

/// Two adjacent words or numbers, which no language joins.
ErrorReason reason_of_neighbours(const CompilerSays& error, const LearnersText& text) {
  if (error.message.find("expected") == std::string::npos &&
      error.message.find("template argument list") == std::string::npos)
    return {};
  const auto range = text.line(error.line);
  for (std::size_t i = range.first + 1; i < range.last; ++i) {
    const SourceToken &a = text.tokens[i - 1], &b = text.tokens[i];
    const bool ends_value = a.kind == SourceToken::Kind::number || a.is(")") || a.is("]") ||
                            (a.is_name() && i > 1 && text.is(".", i - 2)) ||
                            (a.is_name() && text.names.visible(a.text, i) != nullptr &&
                             text.names.visible(a.text, i)->kind != SourceName::Kind::type);
    const bool begins_value =
        (b.is_name() && !is_keyword(b.text)) || b.kind == SourceToken::Kind::number;
    const bool is_header = a.is(")") && text.match[i - 1] != kNoToken && text.match[i - 1] > 0 &&
                           is_keyword(text.tokens[text.match[i - 1] - 1].text);
    const bool is_lambda_or_attribute = a.is("]") && b.is_name();
    if (ends_value && begins_value && !is_header && !is_lambda_or_attribute)
      return {"operator-missing", cat("between ", a.text, " and ", b.text, " something is missing"),
              "a comma, an operator like *, or a ;", b.line, b.column};
  }
  return {};
}

/// t.superstep("name", { ... })
ErrorReason reason_of_body(const CompilerSays& error, const LearnersText& text) {
  if (error.message.find("expected") == std::string::npos) return {};
  for (std::size_t i = std::min(text.line(error.line).last, text.tokens.size()); i-- > 0;) {
    if (!text.is("superstep", i)) continue;
    const bool is_bare = text.is("(", i + 1) && text.is(",", i + 3) && text.is("{", i + 4) &&
                         text.match[i + 4] != kNoToken &&
                         text.tokens[text.match[i + 4]].line >= error.line;
    if (!is_bare) return {};
    const SourceToken& brace = text.tokens[i + 4];
    return {"lambda", "the body of a superstep is a lambda", "[&] { ... }", brace.line,
            brace.column};
  }
  return {};
}

/// Statements where only members are allowed: an earlier brace has closed the function.
ErrorReason reason_of_early_brace(const CompilerSays& error, const LearnersText& text) {
  static const std::regex said(
      R"(expected (unqualified-id|declaration|member name)|does not name a type|has not been declared|expected identifier)");
  if (!std::regex_search(error.message, said)) return {};
  const auto range = text.line(error.line);
  if (range.first == 0 || range.first == range.last) return {};
  const std::string& word = text.tokens[range.first].text;
  const bool is_statement =
      begins_statement(word) || text.is("(", range.first + 1) || text.is(".", range.first + 1);
  std::size_t at = range.first;
  while (at > 0 && !text.is("}", at - 1) && !text.is("{", at - 1)) --at;
  if (at == 0 || !text.is("}", at - 1) || !is_statement) return {};
  const int line = text.tokens[at - 1].line;
  return {"early-brace",
          cat("line ", error.line, " is outside the kernel: the } in line ", line,
              " has closed it already"),
          cat("does the } in line ", line, " belong further down?"), line,
          text.tokens[at - 1].column};
}

/// "(3, 5)" of numbers, not after a function's name.
ErrorReason reason_of_tuple(const LearnersText& text, LearnersText::Range range) {
  const std::size_t at = forgotten_tuple(text, range);
  if (at == kNoToken) return {};
  const std::string inside = text_of_tokens(text.tokens, at, text.match[at] + 1);
  return {"tuple", cat("tuple is missing in front of ", inside), cat("tuple", inside),
          text.tokens[at].line, text.tokens[at].column};
}

}  // namespace

std::size_t forgotten_tuple(const LearnersText& text, LearnersText::Range range) {
  for (std::size_t i = range.first; i < range.last; ++i) {
    const bool is_inside =
        i > 0 && (text.is("(", i - 1) || text.is(",", i - 1) || text.is("{", i - 1));
    if (!text.is("(", i) || !is_inside || text.match[i] == kNoToken || text.arguments(i).size() < 2)
      continue;
    // Only for Layout and tuple: elsewhere a comma may be meant.
    std::size_t around = i;
    while (around > range.first && !text.is("Layout", around)) --around;
    if (text.is("Layout", around) || text.is("tuple", around)) return i;
  }
  return kNoToken;
}

ErrorReason reason_of_syntax(const CompilerSays& error, const LearnersText& text) {
  const auto range = text.line(error.line);
  if (error.message.find("invalid preprocessing directive") != std::string::npos)
    return {"comment", "a line that begins with # is for the preprocessor",
            "a comment begins with //"};
  if (error.message.find("expected") != std::string::npos ||
      error.message.find("not declared") != std::string::npos) {
    if (ErrorReason out = reason_of_python(text, range); !out.cause.empty()) return out;
    if (ErrorReason out = reason_of_header(text, range); !out.cause.empty()) return out;
  }
  if (ErrorReason out = reason_of_tuple(text, range); !out.cause.empty()) return out;
  for (const auto rule :
       {reason_of_suffix, reason_of_open_return, reason_of_body, reason_of_condition,
        reason_of_semicolon, reason_of_early_brace, reason_of_neighbours})
    if (ErrorReason out = rule(error, text); !out.cause.empty()) return out;
  return {};
}

}  // namespace tessera::course
