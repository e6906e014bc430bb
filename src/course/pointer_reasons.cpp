// Errors of texts in plain CUDA: names of Tessera's language, and pointers and arrays used in
// another way than they are declared.
#include <algorithm>
#include <regex>

#include "course.hpp"
#include "error_reasons.hpp"
#include "shell/suggest.hpp"
#include "source.hpp"
#include "tessera/core/text.hpp"

namespace tessera::course {

namespace {

bool is_pointer(const SourceName& name) { return name.type.find('*') != std::string::npos; }

/// How many indices an element has: those of the declaration, one of a pointer, none of a number.
std::size_t rank_of(const LearnersText& text, const SourceName& name) {
  std::size_t out = is_pointer(name) ? 1 : 0;
  for (std::size_t i = name.token + 1; text.is("[", i) && text.match[i] != kNoToken;
       i = text.match[i] + 1)
    ++out;
  return out;
}

/// A use of a variable in a line: "A[row][k]", "A(row, k)", "A".
struct Use {
  const SourceName* name = nullptr;
  std::size_t at = 0, end = 0;  ///< tokens
  std::vector<std::string> indices;
  bool is_round = false;  ///< with round brackets
};

std::vector<Use> uses_in(const LearnersText& text, LearnersText::Range range) {
  std::vector<Use> out;
  for (std::size_t i = range.first; i < range.last; ++i) {
    const SourceName* const name =
        text.tokens[i].is_name() ? text.names.visible(text.tokens[i].text, i) : nullptr;
    if (name == nullptr || name->token == i || name->kind == SourceName::Kind::type) continue;
    Use use{name, i, i + 1, {}, text.is("(", i + 1)};
    while ((text.is("[", use.end) || (use.is_round && text.is("(", use.end))) &&
           text.match[use.end] != kNoToken) {
      for (auto& each : text.arguments(use.end)) use.indices.push_back(std::move(each));
      use.end = text.match[use.end] + 1;
    }
    out.push_back(std::move(use));
  }
  return out;
}

/// "A[row * N + col], where N is the number of columns"; "tile[y][x]".
std::string as_declared(const LearnersText& text, const Use& use) {
  const std::string& name = use.name->name;
  const std::size_t wanted = rank_of(text, *use.name);
  if (is_pointer(*use.name) && use.indices.size() == 2)
    return cat(name, "[", use.indices[0], " * N + ", use.indices[1],
               "], where N is the number of columns");
  std::string out = name;
  for (std::size_t i = 0; i < wanted; ++i)
    out += cat("[", i < use.indices.size() ? use.indices[i] : i == 0 ? "i" : "j", "]");
  return out;
}

std::string declaration_of(const LearnersText& text, const Use& use) {
  const std::size_t wanted = rank_of(text, *use.name);
  const std::string line = cat(" in line ", use.name->line);
  if (is_pointer(*use.name))
    return cat(use.name->name, " is a pointer", line, ": it has one index");
  return wanted == 0 ? cat(use.name->name, " is one number", line)
                     : cat(use.name->name, " is an array", line, ", with ", wanted,
                           wanted == 1 ? " index" : " indices");
}

/// An element with round brackets, or with more or fewer indices than it has.
ErrorReason reason_of_use(const LearnersText& text, LearnersText::Range range) {
  for (const Use& use : uses_in(text, range)) {
    const std::size_t wanted = rank_of(text, *use.name);
    if (use.name->type == "void" || (use.indices.size() == wanted && !use.is_round)) continue;
    if (wanted == 0 && use.indices.empty()) continue;
    if (wanted == 0)
      return {"not-an-array", declaration_of(text, use),
              use.is_round
                  ? "is an operator like * missing, or another name meant?"
                  : cat("for several numbers: ", use.name->type, " ", use.name->name, "[n];")};
    return {"square-brackets", declaration_of(text, use), as_declared(text, use)};
  }
  return {};
}

/// "const int i = threadIdx;"
ErrorReason reason_of_position(const LearnersText& text, LearnersText::Range range) {
  for (std::size_t i = range.first; i < range.last; ++i)
    for (const char* name : {"threadIdx", "blockIdx", "blockDim", "gridDim"})
      if (text.is(name, i) && !text.is(".", i + 1))
        return {"no-such-member", cat(name, " is three numbers"), cat(name, ".x")};
  return {};
}

}  // namespace

ErrorReason reason_of_our_names(const CompilerSays& error, const LearnersText& text) {
  const auto range = text.line(error.line);
  for (std::size_t i = range.first; i + 2 < range.last; ++i) {
    const bool is_ours = (text.is("t", i) || text.is("s", i)) && text.is(".", i + 1) &&
                         text.names.visible(text.tokens[i].text, i) == nullptr;
    if (!is_ours) continue;
    std::string line =
        without_comment(lines_of(text.source)[static_cast<std::size_t>(error.line - 1)]);
    line = line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
    line = with_names_of_cuda(line.substr(0, line.find_last_not_of(" \t") + 1));
    return {"foreign-name",
            cat(text_of_tokens(text.tokens, i, i + 3), " is a name of Tessera's language"), line,
            error.line, text.tokens[i].column};
  }
  return {};
}

ErrorReason reason_of_pointers(const CompilerSays& error, const LearnersText& text) {
  static const std::regex not_offered(
      "(\\w+ is .*, which .*|it needs .*, which is not offered); (.*)");
  std::smatch match;
  if (std::regex_match(error.message, match, not_offered)) return {"refused", match[1], match[2]};
  static const std::regex of_use(
      "used as a function|invalid types .* for array subscript|cannot convert '[^']*\\*|"
      "invalid conversion from '[^']*\\*|invalid operands of types '[^']*\\*|"
      "incompatible types in assignment"),
      of_size("storage size of '(\\w+)' isn't constant|array bound is not an integer constant");
  const auto range = text.line(error.line);
  if (error.message.find("'uint3'") != std::string::npos ||
      error.message.find("'dim3'") != std::string::npos)
    return reason_of_position(text, range);
  if (std::regex_search(error.message, of_use)) return reason_of_use(text, range);
  if (std::regex_search(error.message, of_size))
    return {"not-constant", "the extents of an array are constants",
            "constexpr int N = 64; before the kernel, and N in the brackets"};
  if (error.message.find("assignment of read-only") == std::string::npos) return {};
  for (const Use& use : uses_in(text, range)) {
    const bool is_target = use.end < text.tokens.size() &&
                           text.tokens[use.end].text.ends_with("=") && !text.is("==", use.end);
    if (is_target && is_pointer(*use.name) && use.name->type.find("const") != std::string::npos)
      return {"writes-input", cat(use.name->name, " is an input: it can only be read"),
              "write to the output"};
  }
  return {};
}

}  // namespace tessera::course
