// Unknown names: foreign, misspelt, undeclared; and members.
#include <algorithm>
#include <cctype>
#include <regex>
#include <set>

#include "base/edit_distance.hpp"
#include "error_reasons.hpp"
#include "foreign_names.hpp"
#include "shell/suggest.hpp"
#include "tessera/core/text.hpp"
#include "vocabulary.hpp"

namespace tessera::course {

namespace {

std::string small_letters(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// "Mma" where `using Mma = TensorCore<...>`; else the class itself.
std::string name_of_unit(const LearnersText& text) {
  const auto& tokens = text.tokens;
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i)
    if (tokens[i].is_name() && text.is("=", i + 1) && text.is("TensorCore", i + 2))
      return tokens[i].text;
  return "TensorCore<...>";
}

/// The outermost struct around a token: names of one kernel are unknown in another one.
const SourceName* kernel_of(const LearnersText& text, std::size_t at) {
  for (const auto& each : text.names.all()) {
    std::size_t open = each.token + 1;
    while (open < text.tokens.size() && !text.is("{", open) && !text.is(";", open)) ++open;
    const bool is_around = each.kind == SourceName::Kind::type && each.owner.empty() &&
                           text.is("{", open) && open < at && at < text.match[open];
    if (is_around) return &each;
  }
  return nullptr;
}

constexpr std::string_view kStandardNames[] = {"min",   "max",    "abs",    "exp",  "sqrt",
                                               "pow",   "log",    "cout",   "endl", "swap",
                                               "array", "vector", "string", "clamp"};

/// Declared in this kernel, but out of scope where it is used.
ErrorReason reason_of_scope(const SourceName& name, std::size_t at) {
  const std::string line = cat("line ", name.line);
  if (name.token > at)
    return {"declared-later", cat(name.name, " is declared after this line, in ", line),
            cat("declare it before it is used")};
  const std::string end = name.last_line == name.line ? "that line" : cat("line ", name.last_line);
  return {
      "scope-ended",
      cat(name.name, " is declared in ", line, ", and known to the end of its block only, in ",
          end),
      cat("declare ", name.name, " before that block, so that it lives as long as it is needed"), 0,
      0};
}

/// The names that may be used at that token: the text's own first, then the library's; only types
/// where a type is needed, only functions before a bracket.
std::vector<std::string> candidates(std::size_t at, const LearnersText& text, bool is_type) {
  std::vector<std::string> out = text.names.visible_at(at);
  const bool is_call = text.is("(", at + 1) || text.is("<", at + 1);
  for (const auto& each : text.names.all())
    if (each.kind == SourceName::Kind::type && (is_type || is_call || text.is("::", at + 1)))
      out.push_back(each.name);
  for (auto& each : kernel_words(text.words())) {
    const bool is_capital = std::isupper(static_cast<unsigned char>(each[0])) != 0;
    const bool is_of_types = is_capital || each == "index_t" || each.ends_with("__");
    if (is_type ? is_of_types : !is_call || !is_capital) out.push_back(std::move(each));
  }
  return out;
}

/// The nearest known name, as it should be written; "" if there is none.
std::string nearly(const std::string& name, std::size_t at, const LearnersText& text, bool is_type,
                   bool& is_case) {
  const std::vector<std::string> known = candidates(at, text, is_type);
  for (const auto& each : known) {
    is_case = each != name && small_letters(each) == small_letters(name);
    if (is_case) return each;
  }
  const auto is_near = [&](const std::string& other) {
    const std::size_t least = std::min(name.size(), other.size());
    const int most = least < 3 ? 0 : least < 6 ? 1 : 2;
    return other != name && edit_distance(name, other) <= most;
  };
  const auto near = std::find_if(known.begin(), known.end(), is_near);
  if (near != known.end()) return *near;
  if (text.is_in_cuda()) return {};
  for (const auto& each : kernel_words(KernelWord::Of::thread))
    if (is_near(each)) return "t." + each;
  return {};
}

/// "await t.barrier()", "flaot sum = 0": C++ has a name only after a type, or a word of its own.
bool is_before_name(const LearnersText& text, std::size_t at) {
  static const std::regex joins("and|or|not|in|is|then|do");
  if (at + 1 >= text.tokens.size()) return false;
  const SourceToken& next = text.tokens[at + 1];
  return next.line == text.tokens[at].line && next.is_name() && !is_keyword(next.text) &&
         !std::regex_match(next.text, joins);
}

/// For a name that exists nowhere: how it must begin, or similar names.
ErrorReason reason_of_nowhere(const std::string& name, std::size_t at, const LearnersText& text) {
  const bool begins_loop = at > 1 && text.is("(", at - 1) && text.is("for", at - 2);
  if (begins_loop)
    return {"undeclared", cat(name, " is declared nowhere"),
            cat("the loop declares it: for (int ", name, " = ...")};
  if (text.is("(", at + 1)) {
    const std::string_view ours = meant_by(small_letters(name));
    return {"undeclared", cat("there is no function ", name),
            !ours.empty() ? cat(ours, ", if that is meant")
            : text.is_in_cuda()
                ? "docs/plain_cuda.md lists what is offered; or is it a name of std::?"
                : "docs/kernels.md lists what a kernel calls; or is it a name of std::?"};
  }
  if (is_before_name(text, at))
    return {"undeclared", cat(name, " is no type, and no word of C++"),
            cat("leave ", name, " out, or write a type before ", text.tokens[at + 1].text,
                ": float, int, auto")};
  const bool is_constant = std::none_of(name.begin(), name.end(), [](char c) {
    return std::islower(static_cast<unsigned char>(c)) != 0;
  });
  std::set<std::string> known;
  for (const auto& each : text.names.visible_at(at)) {
    const SourceName* const here = text.names.visible(each, at);
    const bool is_own =
        here->kind != SourceName::Kind::member && here->name != name && here->type != "void";
    if (is_own && (!is_constant || here->type.find("constexpr") != std::string::npos ||
                   here->type.find("const ") == 0))
      known.insert(each);
  }
  const std::string list = shell::join(std::vector<std::string>(known.begin(), known.end()));
  const bool is_stored = text.is("=", at + 1) || text.is("+=", at + 1);
  constexpr std::string_view places[] = {"i", "j", "k", "x", "y", "row", "col"};
  const bool is_place = std::find(std::begin(places), std::end(places), name) != std::end(places);
  std::string advice =
      is_stored && !is_constant
          ? cat("declare it before it is used, with its type and its first value: ",
                is_place ? "int " : "float ", name, " = 0")
          : "declare it before it is used, with its type";
  if (!list.empty()) advice += cat("; or is another name meant? known here: ", list);
  return {"undeclared",
          cat(name, " is declared nowhere in ", is_constant ? "this file" : "this kernel"), advice};
}

/// The name that a message calls unknown; "".
std::string unknown_name_in(const std::string& message) {
  static const std::regex unknown(
      R"('(\w+)' (?:was not declared|does not name a type|has not been declared)|no arguments to '(\w+)' that depend|(?:undeclared identifier|unknown type name) '(\w+)')");
  std::smatch match;
  if (!std::regex_search(message, match, unknown)) return {};
  return match[1].str() + match[2].str() + match[3].str();
}

/// A name in the line that is used as a value but not declared: the library has a function of that
/// name.
std::size_t taken_for_function(const CompilerSays& error, const LearnersText& text) {
  static const std::regex of_functions(
      R"(unresolved overloaded function|overloaded function could not be|between pointer and integer|no match for|no matching|invalid operands|cannot convert|no viable|not assignable|assignment of function)");
  if (!std::regex_search(error.message, of_functions)) return kNoToken;
  const auto range = text.line(error.line);
  for (std::size_t i = range.first; i < range.last; ++i) {
    const std::string& name = text.tokens[i].text;
    const bool is_value = text.tokens[i].is_name() && !is_keyword(name) && !is_builtin_type(name) &&
                          std::islower(static_cast<unsigned char>(name[0])) != 0 &&
                          !text.is_member(i) && !text.is("(", i + 1) && !text.is("<", i + 1) &&
                          !text.is("::", i + 1) && !text.is("{", i + 1);
    if (is_value && name != "dynamic" && name != "std" && text.names.visible(name, i) == nullptr &&
        kernel_word(name) == nullptr)
      return i;
    // tile, copy, ... alone are their functions, too; a comparison looks like a template
    const bool is_compared = text.tokens[i].is_name() && text.is("<", i + 1) &&
                             !text.is_member(i) &&
                             error.message.find("pointer and integer") != std::string::npos;
    if (is_compared && text.names.visible(name, i) == nullptr) return i;
  }
  return kNoToken;
}

/// For an unknown member of t.
ErrorReason reason_of_thread_member(const std::string& name, std::size_t at,
                                    const LearnersText& text) {
  const std::vector<std::string> members = kernel_words(KernelWord::Of::thread);
  const ForeignName* const foreign = foreign_name(name);
  if (foreign != nullptr && foreign->ours.starts_with("t.")) {
    const bool keeps = !foreign->member.empty() && text.is(".", at + 1);
    const std::string tail = keeps && at + 2 < text.tokens.size() ? "." + text.tokens[at + 2].text
                                                                  : std::string(foreign->member);
    return {"no-such-member", cat("t has no member ", name), cat(foreign->ours, tail)};
  }
  const std::string sync = small_letters(name);
  const std::string near =
      sync.find("sync") != std::string::npos ? "barrier" : shell::nearest(name, members);
  if (near.empty())
    return {"no-such-member", cat("t has no member ", name), cat("it has ", shell::join(members))};
  return {"no-such-member", cat("t has no member ", name), std::string(kernel_word(near)->usage)};
}

/// The member of a class that corresponds to a member of other classes.
ErrorReason reason_of_tensor_member(const std::string& object, const std::string& name) {
  struct Instead {
    std::string_view names, ours;
  };
  const std::string last = object.empty() ? "A" : object;
  const Instead instead[] = {
      {" tile ", "tile<rows, columns>(A, i, k)"},
      {" shape dim size rows height num_rows M ",
       "extent<0>(A), the number of its rows; extent<1>(A), of its columns"},
      {" cols columns width num_cols N ", "extent<1>(A), the number of its columns"},
      {" load at get item ", "A(row, col)"},
      {" store set write ", "A(row, col) = value;"},
      {" T transpose ", "exchange the indices: A(col, row)"},
      {" view ptr ", "A: it is a view already"},
      {" copy_from copy_from_async ", "copy(t, what is copied, where to)"},
  };
  for (const auto& each : instead) {
    if (each.names.find(cat(" ", name, " ")) == std::string_view::npos) continue;
    std::string ours(each.ours);
    for (auto at = ours.find('A'); at != std::string::npos; at = ours.find('A', at + last.size()))
      ours.replace(at, 1, last);
    return {"no-such-member", cat(last, " has no member ", name), ours};
  }
  return {"no-such-member", cat(last, " has no member ", name),
          cat("its elements are ", last, "(row, col)")};
}

/// Why a name is unknown at a token, and which one may be meant.
ErrorReason why_unknown(const std::string& name, std::size_t at, const LearnersText& text,
                        bool is_type) {
  if (!text.is_in_cuda() && text.source.find("using namespace tessera") == std::string::npos &&
      text.source.find("tessera::") == std::string::npos)
    return {"no-using", cat(name, " is not known"),
            "the library's names need 'using namespace tessera;' at the top of the file"};
  const KernelWord* const word = text.is_in_cuda() ? nullptr : kernel_word(name);
  const SourceName* const other = text.names.anywhere(name, at);
  const std::string shared = name_of_shared(text, at);
  if (other != nullptr && other->kind == SourceName::Kind::member &&
      kernel_of(text, at) == kernel_of(text, other->token) && !shared.empty() &&
      text.names.visible(name, at) == nullptr)
    return {"member-of-shared", cat(name, " is a member of struct ", other->owner),
            cat(shared, ".", name)};
  if (word != nullptr && word->of == KernelWord::Of::thread)
    return {"member-of-thread", cat(name, " belongs to t, the thread's context"),
            std::string(word->usage)};
  if (word != nullptr && word->of == KernelWord::Of::matrix_unit)
    return {"member-of-unit", cat(name, " belongs to the matrix unit"),
            cat(name_of_unit(text), "::", word->usage)};
  const bool is_of_kernel = other != nullptr && other->kind != SourceName::Kind::member &&
                            kernel_of(text, other->token) == kernel_of(text, at);
  if (is_of_kernel) return reason_of_scope(*other, at);
  bool is_case = false;
  const std::string near = nearly(name, at, text, is_type, is_case);
  if (is_case)
    return {"other-case",
            cat(name, " is not known, and ", near, " is: large and small letters are different"),
            near};
  if (std::find(std::begin(kStandardNames), std::end(kStandardNames), name) !=
      std::end(kStandardNames))
    return {"standard-name", cat(name, " is a name of the standard library"), cat("std::", name)};
  if (!near.empty())
    return {"misspelt", cat(name, " is declared nowhere"), cat(near, ", if that is meant")};
  return reason_of_nowhere(name, at, text);
}

}  // namespace

ErrorReason reason_of_unknown_name(const CompilerSays& error, const LearnersText& text) {
  const bool is_in_cuda = text.is_in_cuda();  // which has no functions with short names
  if (const std::size_t at = is_in_cuda ? kNoToken : taken_for_function(error, text);
      at != kNoToken) {
    ErrorReason out = why_unknown(text.tokens[at].text, at, text, false);
    out.is_of_name = true;
    return out;
  }
  const std::string name = unknown_name_in(error.message);
  if (name.empty()) return {};
  std::size_t at = text.find(name, error.line, error.column);
  if (at == kNoToken) return {};
  const bool is_type = error.message.find("name a type") != std::string::npos ||
                       error.message.find("unknown type name") != std::string::npos ||
                       is_before_name(text, at);
  return why_unknown(name, at, text, is_type);
}

ErrorReason reason_of_unknown_member(const CompilerSays& error, const LearnersText& text) {
  static const std::regex said(
      R"('([^']*)' has no member named '(\w+)'|no member named '(\w+)' in '([^']*)'|'(\w+)' is not a member of '([^']*)')");
  std::smatch match;
  if (!std::regex_search(error.message, match, said)) return {};
  const std::string type = match[1].str() + match[4].str() + match[6].str(),
                    name = match[2].str() + match[3].str() + match[5].str();
  const auto is_of = [&](std::string_view part) { return type.find(part) != std::string::npos; };
  std::size_t at = text.find(name, error.line, error.column);
  if (at == kNoToken || at < 2) return {};
  std::size_t begin = at - 2;
  while (begin > 1 && text.is(".", begin - 1)) begin -= 2;
  const std::string object =
      text.tokens[at - 2].is_name() ? text_of_tokens(text.tokens, begin, at - 1) : "";
  if (is_of("CpuThread")) return reason_of_thread_member(name, at, text);
  if (is_of("Position") || is_of("Dim3") || is_of("uint3") || is_of("dim3"))
    return {"no-such-member", cat(object, " has x, y and z, and no ", name),
            cat(object, ".x counts columns, ", object, ".y counts rows")};
  for (const auto& each : text.names.all()) {
    const bool is_struct = each.kind == SourceName::Kind::type &&
                           std::regex_search(type, std::regex(cat(R"(\b)", each.name, ">?$")));
    if (!is_struct) continue;
    std::vector<std::string> members;
    for (const auto& member : text.names.all())
      if (member.owner == each.name && kernel_of(text, member.token) == kernel_of(text, at))
        members.push_back(member.name);
    if (members.empty()) continue;
    return {"no-such-member", cat("struct ", each.name, " has no member ", name),
            cat("it has ", shell::join(members))};
  }
  if (is_of("TensorCore") || is_of("Mma")) {
    const std::string near =
        shell::nearest(small_letters(name), kernel_words(KernelWord::Of::matrix_unit));
    return {"no-such-member", cat(object, " has no member ", name),
            near.empty() ? "it has load_a, load_b, mma, store_d and zero"
                         : cat(object, "::", kernel_word(near)->usage)};
  }
  if (is_of("Tensor<") || is_of("Tensor")) return reason_of_tensor_member(object, name);
  if (is_of("Tile<") || is_of("Storage<"))
    return {"no-such-member", cat(object, " has no member ", name),
            cat("its elements are ", object, "(row, col), and ", object,
                ".view() is what copy and the like take")};
  if (type == "std") {
    const std::string lower = small_letters(name);
    const auto* const standard =
        std::find(std::begin(kStandardNames), std::end(kStandardNames), lower);
    if (standard != std::end(kStandardNames) && lower != name)
      return {"other-case", cat("std has no ", name), cat("std::", lower)};
    const std::string near =
        shell::nearest(name, {std::begin(kStandardNames), std::end(kStandardNames)});
    if (lower == "minimum" || lower == "maximum")
      return {"misspelt", cat("std has no ", name), cat("std::", lower.substr(0, 3), "(a, b)")};
    if (!near.empty() && near != name)
      return {"misspelt", cat("std has no ", name), cat("std::", near, ", if that is meant")};
  }
  return {};
}

}  // namespace tessera::course
