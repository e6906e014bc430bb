// Known names used in a wrong way: brackets, assignments, calls, types.
#include <algorithm>
#include <regex>

#include "error_reasons.hpp"
#include "shell/suggest.hpp"
#include "tessera/core/text.hpp"
#include "vocabulary.hpp"

namespace tessera::course {

namespace {

bool says(const CompilerSays& error, std::string_view part) {
  return error.message.find(part) != std::string::npos;
}

/// The start of "s.a" whose last name is at `at`.
std::size_t object_begin(const LearnersText& text, std::size_t at) {
  while (at > 1 && text.is(".", at - 1) && text.tokens[at - 2].is_name()) at -= 2;
  return at;
}

/// "A[row][k]", "A(row)(k)", "A[row, k]": all indices after a name, and the token after them.
struct Indexed {
  std::string name;
  std::vector<std::string> indices;
  std::size_t pairs = 0;  ///< of brackets
};
Indexed indexed_at(const LearnersText& text, std::size_t at, std::string_view bracket) {
  Indexed out{text_of_tokens(text.tokens, object_begin(text, at), at + 1), {}};
  for (std::size_t i = at + 1; text.is(bracket, i) && text.match[i] != kNoToken;
       i = text.match[i] + 1) {
    for (auto& each : text.arguments(i)) out.indices.push_back(std::move(each));
    ++out.pairs;
  }
  return out;
}

std::string with_brackets(const Indexed& access) {
  return cat(access.name, "(", shell::join(access.indices), ")");
}
std::string with_square_brackets(const Indexed& access) {
  std::string out = access.name;
  for (const auto& each : access.indices) out += "[" + each + "]";
  return out;
}

bool is_plain_number(const SourceName& name) {
  static const std::regex plain(
      R"(^(static |const |constexpr )*(float|double|int|bool|index_t|long|unsigned|char)( \w+)*$)");
  return std::regex_match(name.type, plain);
}

/// a[i] of a tensor, or of a single number.
ErrorReason reason_of_square_brackets(const LearnersText& text, LearnersText::Range range) {
  for (std::size_t i = range.first; i + 1 < range.last; ++i) {
    if (!text.tokens[i].is_name() || !text.is("[", i + 1) || is_keyword(text.tokens[i].text))
      continue;
    const SourceName* const name = declared_at(text, i);
    if (name != nullptr && name->is_array()) continue;
    const Indexed access = indexed_at(text, i, "[");
    if (name != nullptr && is_plain_number(*name))
      return {"not-an-array",
              cat(name->name, " is one number: ", name->type, " in line ", name->line),
              cat("for several numbers: ", name->type, " ", name->name, "[n];"), 0, 0};
    const bool is_tensor = name != nullptr && (name->kind == SourceName::Kind::parameter ||
                                               name->type.find("Tile") != std::string::npos ||
                                               name->type.find("auto") != std::string::npos);
    if (is_tensor)
      return {"square-brackets",
              cat("elements of ", access.name, " are written with round brackets"),
              with_brackets(access)};
  }
  return {};
}

/// out(row)(col), sum(i) of an array, x(i) of a number.
ErrorReason reason_of_round_brackets(const LearnersText& text, LearnersText::Range range) {
  for (std::size_t i = range.first; i + 1 < range.last; ++i) {
    if (!text.tokens[i].is_name() || !text.is("(", i + 1) || is_keyword(text.tokens[i].text))
      continue;
    const SourceName* const name = declared_at(text, i);
    const Indexed access = indexed_at(text, i, "(");
    if (name != nullptr && name->is_array() && name->kind == SourceName::Kind::member)
      return {
          "array", cat(access.name, " is an array of C++, in line ", name->line),
          cat("Tile<float, rows, columns> ", name->name, "; has elements ", with_brackets(access))};
    if (name != nullptr && name->is_array())
      return {"array",
              cat(access.name, " is an array of C++, in line ", name->line,
                  ": its elements are written with square brackets"),
              with_square_brackets(access)};
    if (name != nullptr && is_plain_number(*name) && name->kind != SourceName::Kind::member)
      return {"not-a-function",
              cat(name->name, " is one number: ", name->type, " in line ", name->line,
                  "; nothing goes in brackets after it"),
              "is an operator like * missing, or another name meant?"};
    if (access.pairs > 1)
      return {"two-brackets", cat("all indices of ", access.name, " go in one pair of brackets"),
              access.indices.size() <= 2
                  ? with_brackets(access)
                  : "a vector has one index, (i), and a matrix two, (row, col)"};
  }
  return {};
}

/// "if (row = 3)"
bool assigns_in_condition(const LearnersText& text, LearnersText::Range range) {
  for (std::size_t i = range.first; i + 1 < range.last; ++i) {
    if ((!text.is("if", i) && !text.is("while", i)) || !text.is("(", i + 1)) continue;
    const std::size_t end = text.match[i + 1] == kNoToken ? range.last : text.match[i + 1];
    for (std::size_t j = i + 2; j < end; ++j)
      if (text.is("=", j)) return true;
  }
  return false;
}

/// The name that is called at the end of a message's "call to '...'": "copy", "Layout".
std::string called_name(const std::string& message) {
  static const std::regex call(R"((?:call to|constructor for initialization of) '([^']*))");
  std::smatch match;
  if (!std::regex_search(message, match, call)) return {};
  std::string text = match[1].str();
  // Without arguments: up to the first bracket after the last "::" outside any.
  int depth = 0;
  std::size_t begin = 0, end = text.size();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (depth == 0 && (c == '(')) {
      end = i;
      break;
    }
    depth += c == '<' || c == '{' || c == '(' ? 1 : c == '>' || c == '}' || c == ')' ? -1 : 0;
    if (depth == 0 && c == ':') begin = i + 1;
  }
  text = text.substr(begin, end - begin);
  return text.substr(0, text.find('<'));
}

/// How a call differs from its usage; "" if uncertain.
std::string missing_in_call(const LearnersText& text, std::size_t at, std::string_view usage) {
  const bool has_angles = text.is("<", at + 1);
  std::size_t open = at + 1;
  while (open < text.tokens.size() && !text.is("(", open) && !text.is(";", open)) ++open;
  const std::vector<std::string> arguments = text.arguments(open);
  const auto bracket = usage.find('(');
  const bool wants_angles =
      bracket != std::string_view::npos && usage.substr(0, bracket).ends_with('>');
  if (wants_angles && !has_angles) return cat("what belongs between < and > is missing");
  if (bracket != std::string_view::npos &&
      (usage.substr(bracket).starts_with("(t,") || usage.substr(bracket).starts_with("(t)")) &&
      (arguments.empty() || arguments.front() != "t"))
    return "t, the thread's context, comes first";
  for (const auto& each : arguments) {
    const SourceTokens own = tokens_of(each);
    const bool is_member = own.size() == 3 && own[1].is(".");
    for (const auto& name : text.names.all())
      if (is_member && name.name == own[2].text && name.kind == SourceName::Kind::member &&
          name.type.find("Tile") != std::string::npos)
        return cat(each, " is a stored tile; use its view, ", each, ".view()");
  }
  return {};
}

}  // namespace

ErrorReason reason_of_brackets_behind_a_name(const CompilerSays& error, const LearnersText& text) {
  const auto range = text.line(error.line);
  if (says(error, "operator[]") || says(error, "subscript"))
    return reason_of_square_brackets(text, range);
  const bool is_call = says(error, "used as a function") ||
                       says(error, "no match for call to '(") || says(error, "is not a function") ||
                       says(error, "does not provide a call operator") ||
                       says(error, "no matching function for call to object");
  return is_call ? reason_of_round_brackets(text, range) : ErrorReason{};
}

namespace {

/// "a(i) + 10 = out(i);"
ErrorReason reason_of_computed_target(const LearnersText& text, LearnersText::Range range) {
  std::size_t begin = range.first;
  for (std::size_t i = range.first; i < range.last; ++i) {
    if (text.match[i] != kNoToken && text.match[i] > i && !text.is("{", i)) {
      i = text.match[i];
      if (text.is("if", begin) || text.is("for", begin)) begin = i + 1;
      continue;
    }
    if (text.is(";", i) || text.is("{", i)) begin = i + 1;
    if (!text.is("=", i)) continue;
    bool is_computed = false;
    for (std::size_t j = begin; j < i; ++j) {
      if (text.match[j] != kNoToken && text.match[j] > j) j = text.match[j];
      for (const char* sign : {"+", "-", "*", "/"}) is_computed = is_computed || text.is(sign, j);
    }
    std::size_t end = i;
    while (end < range.last && !text.is(";", end)) ++end;
    if (!is_computed || end == i + 1 || text.tokens[begin].is("*")) return {};
    return {"target",
            "what is left of = is where the value on its right goes: one element or variable",
            cat(text_of_tokens(text.tokens, i + 1, end), " = ",
                text_of_tokens(text.tokens, begin, i), ";")};
  }
  return {};
}

}  // namespace

ErrorReason reason_of_assignment(const CompilerSays& error, const LearnersText& text) {
  static const std::regex refused(
      "lvalue required as left operand|not assignable|read-only|cannot assign to|increment of "
      "read-only|incompatible types in assignment"),
      variable(R"(variable '(\w+))"),
      array(R"(incompatible types in assignment of|array type '[^']*' is not assignable)");
  std::smatch match;
  if (!std::regex_search(error.message, refused)) return {};
  const auto range = text.line(error.line);
  if (assigns_in_condition(text, range))
    return {"assignment-in-condition", "= stores, and == compares", "if (a == b)"};
  if (std::regex_search(error.message, array)) {
    for (std::size_t i = range.first; i + 1 < range.last; ++i) {
      const SourceName* const name = declared_at(text, i);
      if (name != nullptr && name->is_array() && text.is("=", i + 1))
        return {"array",
                cat(name->name, " is an array, in line ", name->line,
                    ": one element is changed at a time"),
                cat(name->name, "[i] = ...")};
    }
    return {};
  }
  if (!std::regex_search(error.message, match, variable)) {
    if (ErrorReason out = reason_of_computed_target(text, range); !out.cause.empty()) return out;
    for (std::size_t i = range.first; i + 1 < range.last; ++i) {
      const bool is_target = text.is("(", i + 1) && text.match[i + 1] != kNoToken &&
                             text.match[i + 1] + 1 < text.tokens.size() &&
                             text.tokens[text.match[i + 1] + 1].text.ends_with('=') &&
                             !text.is("==", text.match[i + 1] + 1);
      if (text.tokens[i].is_name() && is_target &&
          text.names.visible(text.tokens[i].text, i) != nullptr)
        return {"writes-input", cat(text.tokens[i].text, " is an input: it can only be read"),
                "write to the output"};
    }
    return {};
  }
  const SourceName* const name = text.names.anywhere(match[1].str(), range.last);
  if (name == nullptr) return {};
  const bool is_const = name->type.find("const") != std::string::npos;
  if (!is_const && text.source.find("[=]") != std::string::npos)
    return {"captured-copy", cat("[=] copies ", name->name, ", and the copy cannot be changed"),
            "with [&] it is the one outside"};
  if (!is_const) return {};
  return {"is-const",
          cat(name->name, " is declared const in line ", name->line, ": it keeps its first number"),
          "leave const out there, if it is to change"};
}

ErrorReason reason_of_constant(const CompilerSays& error, const LearnersText& text) {
  static const std::regex value(R"('(\w+)' is not usable in a constant expression)");
  std::smatch match;
  if (!std::regex_search(error.message, match, value)) return {};
  const std::string name = match[1].str();
  const SourceName* const here = text.names.anywhere(name, text.line(error.line).last);
  if (here == nullptr || here->type.find("constexpr") != std::string::npos) return {};
  return {"not-constant",
          cat("the value between < and > must be constant, and ", name,
              " changes while the kernel runs"),
          "the size of a tile between < and >; which tile in the round brackets"};
}

ErrorReason reason_of_call(const CompilerSays& error, const LearnersText& text) {
  if (says(error, "taking address of rvalue") || says(error, "address of an rvalue") ||
      says(error, "address of a temporary"))
    return {"address", "an element is taken as it is, without its address", "leave the & out"};
  if (says(error, "invalid use of non-static member function") ||
      says(error, "cannot resolve address of overloaded function") ||
      says(error, "non-static member function must be called")) {
    const auto range = text.line(error.line);
    for (std::size_t i = range.first; i < range.last; ++i) {
      const KernelWord* const word = kernel_word(text.tokens[i].text);
      if (word != nullptr && text.is_member(i) && !text.is("(", i + 1))
        return {"no-brackets", cat(text.tokens[i].text, " is a function: its brackets are missing"),
                std::string(word->usage)};
    }
    return {};
  }
  static const std::regex no_match(
      "no matching (member )?(function|constructor)|too (many|few) arguments");
  static const std::regex here("to '(tessera::)?Here'");
  const bool is_surplus = std::regex_search(error.message, here);
  if (!is_surplus && !std::regex_search(error.message, no_match)) return {};
  std::string name = called_name(error.message);
  std::size_t at = text.find(name, error.line, error.column);
  if (is_surplus || at == kNoToken) {  // the name is before the argument
    const auto range = text.line(error.line);
    at = kNoToken;
    for (std::size_t i = range.first; i < range.last; ++i)
      if (text.tokens[i].column < error.column && kernel_word(text.tokens[i].text) != nullptr &&
          text.is("(", i + 1))
        at = i;
    if (at == kNoToken) return {};
    name = text.tokens[at].text;
  }
  const KernelWord* const word = kernel_word(name);
  if (word == nullptr) return {};
  const std::string shared = name_of_shared(text, at);
  for (const auto& each : text.names.all())  // names that are both, such as tile
    if (each.name == name && each.kind == SourceName::Kind::member && !shared.empty() &&
        !text.is("<", at + 1) && !text.is_member(at))
      return {"member-of-shared",
              cat(name, " alone is a function; struct ", each.owner, " has a member of that name"),
              cat(shared, ".", name)};
  std::string why = is_surplus ? cat(name, " gets more arguments than it takes")
                               : missing_in_call(text, at, word->usage);
  if (why.empty()) why = cat(name, "() does not take these arguments");
  return {"wrong-call", why, std::string(word->usage)};
}

namespace {

/// For a static_assert that a call in this line has violated: the name of the call.
std::string advice_of_refusal(const CompilerSays& error, const LearnersText& text) {
  if (says(error, "a tensor takes one coordinate")) {
    const auto here = text.line(error.line);
    for (std::size_t i = here.first; i < here.last; ++i) {
      const SourceName* const name = text.is_member(i) ? declared_at(text, i) : nullptr;
      if (name == nullptr || !name->type.starts_with("Tile<")) continue;
      const auto commas = std::count(name->type.begin(), name->type.end(), ',');
      if (commas != 2)
        return cat(name->name, " is declared with ",
                   commas == 1 ? "1 extent" : cat(commas, " extents"), " in line ", name->line,
                   ": Tile<float, rows, columns> ", name->name, ";");
    }
  }
  if (says(error, "a tensor takes one coordinate"))
    return "a vector has one index, (i), and a matrix has two, (row, col)";
  const auto range = text.line(error.line);
  for (std::size_t i = range.first; i < range.last; ++i) {
    const KernelWord* const word = kernel_word(text.tokens[i].text);
    if (word != nullptr &&
        (says(error, cat("failed: ", word->name)) || says(error, cat(" \"", word->name))))
      return std::string(word->usage);
  }
  return {};
}

}  // namespace

ErrorReason reason_of_types(const CompilerSays& error, const LearnersText& text) {
  static const std::regex again(
      R"((?:redeclaration of|redefinition of|conflicting declaration) '(?:[^']*[ &*])?(\w+))");
  static const std::regex sentence(
      "static assertion failed(?: due to requirement '[^']*')?: (.*)$|static_assert failed(?: due "
      "to requirement '[^']*')? \"(.*)\"$");
  static const std::regex no_template(R"('(?:\w+::)*(\w+)' is not a template)");
  std::smatch match;
  if (std::regex_search(error.message, match, no_template)) {
    const KernelWord* const word = kernel_word(match[1].str());
    return {"not-a-template", cat(match[1].str(), " takes nothing between < and >"),
            word != nullptr ? std::string(word->usage) : "leave the < and > out"};
  }
  if (std::regex_search(error.message, match, again)) {
    const std::string name = match[1].str();
    for (const auto& each : text.names.all())
      if (each.name == name && each.line <= error.line &&
          text.names.visible(name, text.line(error.line).first) == &each)
        return {"declared-twice", cat(name, " is declared in line ", each.line, " already"),
                cat("to change it: ", name, " = ...; without a type; or take another name")};
    return {"declared-twice", cat(name, " is declared already"),
            "take another name, or leave the type out"};
  }
  if (std::regex_search(error.message, match, sentence)) {
    return {"refused", match[1].str() + match[2].str(), advice_of_refusal(error, text)};
  }
  if (says(error, "Recorded")) {  // an element that auto holds is a reference to it
    const auto range = text.line(error.line);
    for (std::size_t i = range.first; i < range.last; ++i) {
      const SourceName* const name =
          text.tokens[i].is_name() ? text.names.visible(text.tokens[i].text, i) : nullptr;
      const bool is_auto = name != nullptr && name->kind == SourceName::Kind::variable &&
                           name->type.find("auto") != std::string::npos &&
                           name->type.find('&') == std::string::npos &&
                           text.is("=", name->token + 1);
      if (is_auto)
        return {"auto-element",
                cat(name->name, " is declared auto in line ", name->line,
                    ", and can be used as the element itself"),
                "an element is taken by its type: float x = A(row, col); not auto"};
    }
  }
  return {};
}

}  // namespace tessera::course
