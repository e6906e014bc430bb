// Syntax of other languages: their operators and keywords instead of those of C++, a type or a
// whole tensor instead of an element. Each rule looks for tokens with no other meaning, so that it
// holds whatever the compiler reports for the line.
#include <algorithm>
#include <regex>

#include "error_reasons.hpp"
#include "foreign_names.hpp"
#include "shell/suggest.hpp"
#include "tessera/core/text.hpp"
#include "vocabulary.hpp"

namespace tessera::course {

namespace {

/// One line of tokens, and queries that the rules share.
struct Line {
  const LearnersText& text;
  LearnersText::Range range;

  bool is(std::string_view word, std::size_t at) const { return text.is(word, at); }
  bool is_close(std::size_t at) const {  ///< no blank between this token and the next
    return at + 1 < range.last && text.tokens[at].end() == text.tokens[at + 1].column;
  }
  const std::string& word(std::size_t at) const { return text.tokens[at].text; }
  bool is_name(std::size_t at) const {
    return at < text.tokens.size() && text.tokens[at].is_name() && !is_keyword(word(at));
  }
  /// The token after the bracket that closes the one at `open`.
  std::size_t after(std::size_t open) const {
    return open < text.tokens.size() && text.match[open] != kNoToken ? text.match[open] + 1
                                                                     : text.tokens.size();
  }
  ErrorReason at(std::size_t place, std::string cause, std::string why, std::string advice) const {
    const SourceToken& token = text.tokens[place];
    return {std::move(cause), std::move(why), std::move(advice), token.line, token.column};
  }
};

/// Is the : at `i` in the brackets of a call, and of no ?: in them?
bool separates_arguments(const Line& line, std::size_t i) {
  std::size_t open = i;
  while (open > line.range.first) {
    --open;
    if (line.is("?", open) || line.is(";", open) || line.is("{", open) || line.is("[", open))
      return false;
    const std::size_t other = line.text.match[open];
    if (other != kNoToken && other < open) open = other;
    else if (line.is("(", open) && other != kNoToken) break;
  }
  return open > line.range.first && line.is("(", open) && line.is_name(open - 1);
}

/// "===", ":=", "@": signs of other languages.
ErrorReason reason_of_sign(const Line& line, std::size_t i) {
  const bool is_equal = line.is_close(i) && line.is("=", i + 1);
  if ((line.is("==", i) || line.is("!=", i)) && is_equal)
    return line.at(i, "sign", cat(line.word(i), "= is JavaScript's comparison"), line.word(i));
  for (const char* sign : {"/", "*", "%"})
    if (line.is("=", i) && line.is_close(i) && line.is(sign, i + 1))
      return line.at(i, "sign", cat("=", sign, " is not an operator of C++"), cat(sign, "="));
  if (line.is(":", i) && is_equal)
    return line.at(i, "sign", ":= is not an operator of C++; = assigns", "name = value");
  if (line.is(":", i) && separates_arguments(line, i))
    return line.at(i, "sign", "the arguments in these brackets are separated by commas", ",");
  if (line.is("@", i))
    return line.at(i, "sign", "@ is Python's product of matrices, which C++ does not have",
                   "a loop over k: sum = fma(A(row, k), B(k, col), sum)");
  if (line.is("*", i) && line.is_close(i) && line.is("*", i + 1) && i > line.range.first) {
    const bool is_e = line.is("e", i - 1) && line.text.names.visible("e", i) == nullptr;
    return line.at(i, "power", "** is Python's power, which C++ does not have",
                   is_e ? "std::exp(x)" : "x * x * x");
  }
  return {};
}

/// "if (a) && (b)", "if (...) then", "for (...) do".
ErrorReason reason_of_header_end(const Line& line, std::size_t i) {
  const bool is_header =
      (line.is("if", i) || line.is("while", i) || line.is("for", i)) && line.is("(", i + 1);
  if (!is_header) return {};
  const std::size_t end = line.after(i + 1);
  const std::string& word = line.word(i);
  for (const char* sign : {"&&", "||", "and", "or"})
    if (line.is(sign, end) && word != "for")
      return line.at(end, "condition", cat("the condition of this ", word, " ends before ", sign),
                     cat("one pair of brackets around all of it: ", word, " (... ", sign, " ...)"));
  if (line.is(":", end))
    return line.at(end, "python", "a : begins a block in Python", cat(word, " (...) { ... }"));
  for (const char* other : {"then", "do"})
    if (line.is(other, end) && !(word == "while" && line.is("do", end)))
      return line.at(end, "then", cat("no ", other, " follows ", word, " (...) in C++"),
                     cat("leave ", other, " out"));
  return {};
}

/// "Shared.values", "Mma.load_a", "shared.values"
ErrorReason reason_of_type_as_object(const Line& line, std::size_t i) {
  if (!line.is_name(i) || !line.is(".", i + 1) || !line.is_name(i + 2) || line.text.is_member(i))
    return {};
  const std::string& name = line.word(i);
  const SourceName* const known = line.text.names.visible(name, i);
  const SourceName* const type = known != nullptr ? known : line.text.names.anywhere(name, i);
  const bool is_type = type != nullptr && type->kind == SourceName::Kind::type;
  const std::string shared = name_of_shared(line.text, i);
  const bool is_function = name == "shared" && known == nullptr;
  if ((is_function || name == "Shared") && (is_type || is_function) && !shared.empty())
    return line.at(i, "type-as-object",
                   is_type ? "Shared is a type; its storage has its own name"
                           : "shared is a function; the storage that it gives has a name",
                   cat(shared, ".", line.word(i + 2)));
  if (is_type && line.text.names.visible(name, i + 1) == type)
    return line.at(i, "type-as-object", cat(name, " is a type: its functions follow ::"),
                   cat(name, "::", line.word(i + 2)));
  return {};
}

/// "s->b", if s is not a pointer.
ErrorReason reason_of_arrow(const Line& line, std::size_t i) {
  const bool is_arrow =
      !line.is("t", i) && line.is_name(i) && line.is("->", i + 1) && line.is_name(i + 2);
  const SourceName* const name = is_arrow ? line.text.names.visible(line.word(i), i) : nullptr;
  if (name == nullptr || name->type.find('*') != std::string::npos) return {};
  return line.at(i + 1, "dot", cat("the members of ", line.word(i), " follow a point"),
                 cat(line.word(i), ".", line.word(i + 2)));
}

/// "t.commit()", "t.thread.x()", "C(row, col).atomic_add(sum)"
ErrorReason reason_of_wrong_owner(const Line& line, std::size_t i) {
  if (line.is("t", i) && line.is(".", i + 1) && line.is_name(i + 2)) {
    const KernelWord* const word = kernel_word(line.word(i + 2));
    if (word != nullptr && word->of == KernelWord::Of::library)
      return line.at(i, "no-such-member", cat(word->name, " is a free function, not a member of t"),
                     std::string(word->usage));
    const bool is_number = line.is(".", i + 3) && line.is_name(i + 4) &&
                           line.word(i + 4).size() == 1 && line.is("(", i + 5);
    if (is_number)
      return line.at(i + 5, "not-a-function",
                     cat("t.", line.word(i + 2), ".", line.word(i + 4), " is a number"),
                     cat("t.", line.word(i + 2), ".", line.word(i + 4), ", without brackets"));
  }
  if (!line.is(")", i) || !line.is(".", i + 1) || !line.is_name(i + 2)) return {};
  const std::size_t open = line.text.match[i];
  const KernelWord* const word = kernel_word(line.word(i + 2));
  const ForeignName* const foreign = foreign_name(line.word(i + 2));
  const bool is_element = open != kNoToken && open > 0 && line.is_name(open - 1);
  if (is_element && foreign != nullptr && foreign->ours.starts_with("t."))
    return line.at(
        i + 2, "member-of-thread",
        cat(foreign->name, " is a name of ", foreign->language, ", and no element has it"),
        std::string(foreign->ours));
  if (!is_element || word == nullptr || word->of != KernelWord::Of::thread) return {};
  return line.at(i + 2, "member-of-thread",
                 cat(word->name, " belongs to t, the thread's context, and no element has it"),
                 std::string(word->usage));
}

/// Is it a tensor's parameter, or a tile of the kernel's shared storage?
bool is_tensor(const LearnersText& text, std::size_t at) {
  const SourceName* const name = declared_at(text, at);
  if (name == nullptr || name->name == "t") return false;
  const bool is_view = text.is("=", name->token + 1) &&
                       (text.is("tile", name->token + 2) || text.is("swizzled", name->token + 2));
  if (is_view && name->type.find("auto") != std::string::npos) return true;
  return (name->kind == SourceName::Kind::parameter &&
          name->type.find("auto") != std::string::npos) ||
         (name->kind == SourceName::Kind::member && name->type.find("Tile") != std::string::npos);
}

/// The tokens of "s.a", if its last name is at `at`.
std::string object_at(const LearnersText& text, std::size_t at) {
  std::size_t begin = at;
  while (begin > 1 && text.is(".", begin - 1) && text.tokens[begin - 2].is_name()) begin -= 2;
  return text_of_tokens(text.tokens, begin, at + 1);
}

/// "out.at(i)", "s.values{0, i}", "out<i>"
ErrorReason reason_of_other_access(const Line& line, std::size_t i) {
  if (!line.is_name(i) || !is_tensor(line.text, i) || declared_at(line.text, i)->token == i)
    return {};
  const std::string object = object_at(line.text, i);
  const std::size_t open = line.is(".", i + 1) && line.is("at", i + 2) ? i + 3 : i + 1;
  const bool is_at = open == i + 3 && line.is("(", open);
  if (line.is("<", i + 1) && line.is(">", i + 3) && line.is_close(i) && line.is_close(i + 1))
    return line.at(i, "round-brackets",
                   cat("elements of ", object, " are written with round brackets"),
                   cat(object, "(", line.word(i + 2), ")"));
  const bool is_braces = line.is("{", open) && open == i + 1;
  if ((!is_at && !is_braces) || line.text.arguments(open).empty()) return {};
  return line.at(i, "round-brackets",
                 cat("elements of ", object, " are written with round brackets"),
                 cat(object, "(", shell::join(line.text.arguments(open)), ")"));
}

/// "Tile(float, 32, 33) tile;", "Tile<float>(32, 33) tile;", "Tile<float, [32, 33]> tile;"
ErrorReason reason_of_tile(const Line& line, std::size_t i) {
  const auto all = line.is("Tile", i) ? line.text.arguments(i + 1) : std::vector<std::string>{};
  if (line.is("(", i + 1) && all.size() == 3 && is_builtin_type(all[0]))
    return line.at(i, "tile-type", "type and extents of a tile are written between < and >",
                   cat("Tile<", shell::join(all), "> name;"));
  if (!line.is("Tile", i) || !line.is("<", i + 1) || !line.is_name(i + 2)) return {};
  std::size_t open = i + 3;
  if (line.is(",", open) || line.is(">", open)) ++open;
  if (!line.is("(", open) && !line.is("[", open)) return {};
  const auto extents = line.text.arguments(open);
  if (extents.size() != 2) return {};
  return line.at(i, "tile-type",
                 "the extents of a tile are written between < and >, after its type",
                 cat("Tile<", line.word(i + 2), ", ", shell::join(extents), "> name;"));
}

/// "Layout rows(tuple(3, 5), [5, 1])", "float a = [0] * 4;"
ErrorReason reason_of_list(const Line& line, std::size_t i) {
  if (line.is("[", i) && i > 0 && line.is("=", i - 1) && i + 1 < line.range.last &&
      line.text.tokens[i + 1].kind == SourceToken::Kind::number)
    return line.at(i, "local-array", "a list in square brackets is Python's",
                   "float name[n] = {};");
  const bool is_list = line.is("[", i) && i > 0 && (line.is(",", i - 1) || line.is("(", i - 1));
  if (!is_list || line.text.arguments(i).size() < 2) return {};
  if (line.text.find("Layout", line.text.tokens[i].line) == kNoToken) return {};
  std::string list = cat("[", shell::join(line.text.arguments(i)), "]");
  for (const auto& [theirs, ours] : {std::pair{"[", "tuple("}, {"]", ")"}})
    for (std::size_t at = 0; (at = list.find(theirs, at)) != std::string::npos;)
      list.replace(at, 1, ours);
  return line.at(i, "tuple", "a list in square brackets is Python's", list);
}

/// "float[TM] a;", "a[TM];", "const flops = 3;": a declaration with a misplaced or missing type.
ErrorReason reason_of_declaration(const Line& line, std::size_t i) {
  const bool begins = i == 0 || line.is(";", i - 1) || line.is("{", i - 1) || line.is("}", i - 1);
  const std::size_t end = line.is("[", i + 1) ? line.after(i + 1) : 0;
  if (end > 0 && is_builtin_type(line.word(i)) && end < line.range.last && line.is_name(end) &&
      !line.is("auto", i)) {
    std::string number = text_of_tokens(line.text.tokens, i + 1, end);
    if (end == i + 3) number = "[n]";
    return line.at(i, "array-form", "the number of elements follows the name",
                   cat(line.word(i), " ", line.word(end), number, ";"));
  }
  if (begins && end > 0 && line.is_name(i) && (line.is(";", end) || line.is(",", end)) &&
      line.text.names.visible(line.word(i), i) == nullptr) {
    const std::string array = text_of_tokens(line.text.tokens, i, end);
    return line.at(i, "no-type", cat(array, " has no type here"), cat("float ", array, ";"));
  }
  const bool is_const = line.is("const", i) || line.is("constexpr", i);
  if (is_const && line.is_name(i + 1) && line.is("=", i + 2) && !line.is("auto", i + 1))
    return line.at(i + 1, "no-type", cat("the type of ", line.word(i + 1), " is missing"),
                   cat(line.word(i), " float ", line.word(i + 1), " = ...; or int"));
  return {};
}

/// "2(n + 1)": a number is not a function.
ErrorReason reason_of_number(const Line& line, std::size_t i) {
  if (line.text.tokens[i].kind != SourceToken::Kind::number || !line.is("(", i + 1)) return {};
  return line.at(i + 1, "operator-missing",
                 cat("between ", line.word(i),
                     " and ( something is "
                     "missing"),
                 "an operator like *, or a comma");
}

/// t.superstep(load, [&] { ... })
ErrorReason reason_of_step_name(const Line& line, std::size_t i) {
  const bool is_bare =
      line.is("superstep", i) && line.is("(", i + 1) && line.is_name(i + 2) && line.is(",", i + 3);
  if (!is_bare || line.text.names.visible(line.word(i + 2), i + 2) != nullptr) return {};
  return line.at(i + 2, "text", "the name of a superstep is a text, in quotes",
                 cat("\"", line.word(i + 2), "\""));
}

/// A character that is not valid in C++ outside comments and strings.
ErrorReason reason_of_letter(const Line& line, std::size_t i) {
  constexpr std::pair<std::string_view, std::string_view> known[] = {
      {"×", "*"},  {"·", "*"},  {"÷", "/"},       {"−", "-"},     {"–", "-"},
      {"≤", "<="}, {"≥", ">="}, {"≠", "!="},      {"²", "x * x"}, {"³", "x * x * x"},
      {"“", "\""}, {"”", "\""}, {"π", "3.14159f"}};
  const SourceToken& token = line.text.tokens[i];
  if (token.kind == SourceToken::Kind::text) return {};
  for (const auto& [letter, ours] : known)
    if (token.text.find(letter) != std::string::npos)
      return line.at(i, "letter", cat(letter, " is not a character of C++"), std::string(ours));
  return {};
}

/// "for (int y : t.thread.y)"
ErrorReason reason_of_range(const CompilerSays& error, const Line& line, std::size_t i) {
  const bool is_loop =
      line.is("for", i) && line.is("(", i + 1) && line.is_name(i + 3) && line.is(":", i + 4);
  if (!is_loop || error.message.find("begin") == std::string::npos) return {};
  const std::string& name = line.word(i + 3);
  return line.at(i + 4, "for-header", "a for with a : walks through a list, and here is none",
                 cat("for (int ", name, " = 0; ", name, " < n; ++", name, ")"));
}

/// "out = a(i)", "out + i", "score - largest": a whole tensor, if the message mentions its type.
ErrorReason reason_of_whole(const CompilerSays& error, const Line& line, std::size_t i) {
  static const std::regex said(
      R"(no match for 'operator[-+*/]?=?' .*'[^']*(Tensor|Tile|Storage)|invalid operands (of types .*\[|to binary expression)|no viable overloaded)");
  if (!line.is_name(i) || !std::regex_search(error.message, said)) return {};
  constexpr std::string_view operators[] = {"=", "+", "-", "*", "/", "+=", "-=", "*=", "/="};
  const auto is_operator = [&](std::size_t at) {
    return std::any_of(std::begin(operators), std::end(operators),
                       [&](auto each) { return line.is(each, at); });
  };
  const bool is_used = is_operator(i + 1) || (i > 0 && is_operator(i - 1) && !line.is("(", i + 1) &&
                                              !line.is("[", i + 1) && !line.is(".", i + 1));
  const SourceName* const name = declared_at(line.text, i);
  if (!is_used || name == nullptr || name->token == i) return {};
  const std::string object = object_at(line.text, i);
  if (name->is_array())
    return line.at(i, "whole-array",
                   cat(object, " is an array, in line ", name->line, ": numbers are its elements"),
                   cat(object, "[i]"));
  const bool is_copied = line.is("=", i + 1) && line.is("tile", i + 2);
  if (!is_tensor(line.text, i) || is_copied) return {};
  return line.at(i, "whole-tensor", cat(object, " is a whole tensor; one element is a number"),
                 cat(object, "(...), with the indices of the element in the brackets"));
}

}  // namespace

ErrorReason reason_of_form(const CompilerSays& error, const LearnersText& text) {
  Line line{text, text.line(error.line)};
  if (error.message.find("expected 'while'") != std::string::npos && line.range.first > 0)
    line.range = text.line(text.tokens[line.range.first - 1].line);  // "if (...) do" ends there
  const auto of_message = [&](auto rule) {
    return [&, rule](const Line& here, std::size_t i) { return rule(error, here, i); };
  };
  const auto first = [&](auto... rules) {
    ErrorReason out;
    for (std::size_t i = line.range.first; i < line.range.last; ++i)
      if (((out = rules(line, i), !out.cause.empty()) || ...)) break;
    return out;
  };
  return first(reason_of_sign, reason_of_header_end, reason_of_type_as_object, reason_of_arrow,
               reason_of_wrong_owner, reason_of_other_access, reason_of_tile, reason_of_list,
               reason_of_declaration, reason_of_number, reason_of_step_name, reason_of_letter,
               of_message(reason_of_range), of_message(reason_of_whole));
}

}  // namespace tessera::course
