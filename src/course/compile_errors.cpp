// The compiler's errors, at the learner's lines: see program.hpp.
#include <algorithm>
#include <filesystem>
#include <regex>

#include "brackets.hpp"
#include "error_reasons.hpp"
#include "process/compiler_messages.hpp"
#include "program.hpp"
#include "shell/suggest.hpp"
#include "tessera/core/text.hpp"

namespace tessera::course {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestLine = 4000;  ///< of a compiler: expressions are looked for in it

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// With ' for the quotes of all compilers.
std::string with_plain_quotes(std::string text) {
  for (const std::string_view quote : {"‘", "’"})
    for (auto at = text.find(quote); at != text.npos; at = text.find(quote, at))
      text.replace(at, quote.size(), "'");
  return text;
}

/// Collects the errors in the learner's file, and the first one elsewhere.
class Errors {
 public:
  struct One {
    CompileError error;
    std::string said;  ///< the compiler's text
  };
  explicit Errors(std::string file) : file_(std::move(file)) {}

  void read(const std::string& line) {
    static const std::regex place(R"(^([^:]+):(\d+):(?:(\d+):)?\s*(.*)$)");
    std::smatch match;
    if (has(line, "undefined reference to") && elsewhere_.said.empty())
      elsewhere_.said = line.substr(line.find("undefined reference to"));
    if (!std::regex_match(line, match, place)) {
      if (has(line, ": In ")) asked_ = {};
      return;
    }
    const std::string name = fs::path(match[1].str()).filename().string();
    One here{{file_,
              {},
              std::atoi(match[2].str().c_str()),
              std::atoi(match[3].str().c_str()),
              {},
              {},
              {}},
             match[4]};
    const bool is_theirs = name == file_;
    for (const std::string_view kind : {"error: ", "fatal error: "})
      if (here.said.starts_with(kind)) {
        here.said.erase(0, kind.size());
        return error(std::move(here), name);
      }
    if (is_theirs && (has(here.said, "required") || has(here.said, "expansion of"))) asked_ = here;
    else if (is_theirs && (has(here.said, "instantiation of") || has(here.said, "in call to")) &&
             out.empty() && !elsewhere_.said.empty())
      out.push_back({here.error, elsewhere_.said});  // Clang prints it after the error
    else if (is_theirs && !out.empty()) note(here.said);
  }

  /// The first error without a line of the learner.
  struct Elsewhere {
    std::string said, file;
    bool is_first = false;  ///< of all errors
  };
  const Elsewhere& elsewhere() const { return elsewhere_; }
  std::vector<One> out;

 private:
  void error(One here, const std::string& name) {
    const bool is_theirs = name == file_;
    CompileError& e = here.error;
    if (!is_theirs && asked_.error.line > 0)
      e.line = asked_.error.line, e.column = asked_.error.column;
    if (is_theirs || asked_.error.line > 0) out.push_back(here);
    else if (elsewhere_.said.empty()) elsewhere_ = {here.said, name, out.empty()};
    if (!is_theirs) asked_ = {};
  }

  void note(const std::string& said) {
    static const std::regex forgotten(R"(did you forget to (?:‘|')(#include <[^>]+>))");
    std::smatch match;
    if (!std::regex_search(said, match, forgotten)) return;
    out.back().error.cause = "include";
    out.back().error.advice = cat(match[1].str(), " belongs at the top of the file");
  }

  std::string file_;
  Elsewhere elsewhere_;
  One asked_;  // the learner's line that led to the following error
};

/// The compiler's message without names of the library and of the puzzle's namespace, and without
/// unlikely suggestions.
std::string shown_message(const std::string& said) {
  static const std::regex guess(R"(; did you mean (‘|').*$|^static assertion failed: )"),
      space(R"(\bp\d+(?:_\d+)?::(?:\w+::)*)"),
      refusal(R"(^call to non-.* function (?:‘|')void (?:\w+::)*refused::(\w+)\(.*$)");
  std::string out = process::in_plain_words(said);
  std::smatch match;
  if (std::regex_search(out, match, refusal)) {
    out = match[1];
    std::replace(out.begin(), out.end(), '_', ' ');
  }
  return std::regex_replace(std::regex_replace(out, guess, ""), space, "");
}

/// Does an error like this probably cause the other one?
bool has_followers(const CompileError& e) {
  constexpr std::string_view causes[] = {
      "semicolon",    "python", "for-header",     "early-brace", "operator-missing", "comment",
      "no-condition", "tuple",  "type-as-object", "tile-type",   "array-form",       "no-type",
      "condition",    "then",   "sign",           "letter",      "round-brackets"};
  const bool is_syntax =
      std::find(std::begin(causes), std::end(causes), e.cause) != std::end(causes);
  return is_syntax || e.message.starts_with("expected") || has(e.message, "does not name a type");
}

/// Is the cause certain on its own, whatever the error before it was?
bool is_independent(const CompileError& e) {
  constexpr std::string_view causes[] = {"foreign-name", "square-brackets", "other-case"};
  return std::find(std::begin(causes), std::end(causes), e.cause) != std::end(causes);
}

void give_reason(CompileError& e, const ErrorReason& reason) {
  e.cause = reason.cause, e.why = reason.why, e.advice = reason.advice;
  if (reason.line > 0) e.line = reason.line, e.column = reason.column;
}

constexpr int kMostOfSyntax = 3;  ///< rules that may explain a line that is not C++

/// One for each line, with the most certain reason: errors that follow from one are in its line.
std::vector<CompileError> one_for_each_line(const std::vector<Errors::One>& said,
                                            const LearnersText& text) {
  struct Line {
    int line;
    CompileError error;
    int rank;
  };
  std::vector<Line> lines;
  for (const auto& each : said) {
    const CompilerSays says{with_plain_quotes(each.said), each.error.line, each.error.column};
    const RankedReason ranked = reason_of(says, text);
    CompileError e = each.error;
    e.message = shown_message(each.said);
    if (!ranked.reason.cause.empty()) give_reason(e, ranked.reason);
    if (ranked.reason.is_of_name && !has(e.message, "declared")) e.message = e.why;
    if (e.cause == "refused") e.message = e.why;  // Clang prints the condition before the sentence
    const auto known = std::find_if(lines.begin(), lines.end(),
                                    [&](const Line& l) { return l.line == says.line; });
    if (known == lines.end()) lines.push_back({says.line, e, ranked.rank});
    else if (ranked.rank < known->rank && !ranked.reason.cause.empty() &&
             known->error.cause != "include" &&
             (ranked.rank < kMostOfSyntax || !known->error.message.starts_with("expected")))
      known->error = e, known->rank = ranked.rank;
  }
  std::vector<CompileError> out;
  for (auto& each : lines) out.push_back(std::move(each.error));
  return out;
}

/// "this kernel is called with t and 2 tensors"; for a kernel with another number.
ErrorReason reason_of_parameters(const std::string& said, const LearnersText& text) {
  static const std::regex call(
      R"(no match(?:ing function)? for call to (?:object of type )?'\(?(?:const )?(?:\w+::)*(\w+))");
  std::smatch match;
  if (!std::regex_search(said, match, call)) return {};
  for (const auto& each : text.names.all()) {
    if (each.kind != SourceName::Kind::type || each.name != match[1].str()) continue;
    std::size_t at = each.token;
    while (at < text.tokens.size() && !text.is("operator", at)) ++at;
    if (at + 3 >= text.tokens.size()) return {};
    return {"parameters",
            cat("the puzzle calls ", each.name, " with other arguments than its operator() takes"),
            "the parameters as they were in the file you were given ('tessera puzzle solution' "
            "shows them)",
            text.tokens[at].line, text.tokens[at].column};
  }
  return {};
}

ErrorReason reason_of_block(const LearnersText& text) {
  ErrorReason out{"block", "a kernel says how many threads its block has",
                  "static constexpr Dim3 block{...}; as it was in the file you were given"};
  const auto& names = text.names.all();
  for (const auto& each : names) {
    const bool is_kernel = each.kind == SourceName::Kind::type && each.owner.empty() &&
                           std::any_of(names.begin(), names.end(), [&](const auto& m) {
                             return m.owner == each.name && m.name == "name";
                           });
    const bool has_block = std::any_of(names.begin(), names.end(), [&](const auto& m) {
      return m.owner == each.name && m.name == "block";
    });
    if (is_kernel && !has_block) out.line = each.line, out.column = text.tokens[each.token].column;
  }
  return out;
}

/// For an error without a line of the learner.
CompileError error_elsewhere(const Errors::Elsewhere& elsewhere, const std::string& said,
                             const std::string& file, const LearnersText& text) {
  static const std::regex unknown(R"('(\w+)' was not declared|undeclared identifier '(\w+)')");
  CompileError out{file, shown_message(elsewhere.said), 0, 0, {}, {}, {}};
  const std::string plain = with_plain_quotes(elsewhere.said);
  std::smatch match;
  if (elsewhere.said.empty()) out.message = said.substr(0, said.find('\n'));
  else if (text.is_in_cuda())
    out.message =
        "the puzzle cannot launch the kernel: its parameters must be those of the file you were "
        "given ('tessera puzzle solution' with --cuda shows them)";
  else if (elsewhere.file == "spec.hpp" && elsewhere.is_first && plain.starts_with("expected") &&
           !text.tokens.empty() && !text.tokens.back().is(";")) {
    const SourceToken& last = text.tokens.back();
    give_reason(out, {"semicolon", "the file ends without a ; or a }",
                      last.is("}") ? "};" : cat(last.text, ";"), last.line, last.end()});
    out.message = "the last line is not complete";
  } else if (elsewhere.file == "spec.hpp" && std::regex_search(plain, match, unknown)) {
    const std::string name = match[1].str() + match[2].str();
    out.message = cat("the puzzle runs ‘", name, "’, and finds none in the file");
    std::vector<std::string> own;
    for (const auto& each : text.names.all())
      if (each.owner.empty() && each.kind != SourceName::Kind::member &&
          each.kind != SourceName::Kind::parameter)
        own.push_back(each.name);
    const std::string near = shell::nearest(name, own);
    const SourceName* const found = near.empty() ? nullptr : text.names.anywhere(near, 0);
    if (found != nullptr)
      give_reason(out, {"other-name", cat(near, " is not the name that the puzzle needs"), name,
                        found->line, text.tokens[found->token].column});
  } else if (has(plain, "the block size that the kernel declares")) {
    out.message = "a kernel declares no block";
    give_reason(out, reason_of_block(text));
  } else if (const ErrorReason reason = reason_of_parameters(plain, text); !reason.cause.empty()) {
    out.message = "the puzzle cannot call the kernel";
    give_reason(out, reason);
  }
  return out;
}

bool is_blank(const std::string& source) {
  return source.find_first_not_of(" \t\r\n") == std::string::npos;
}

}  // namespace

std::vector<CompileError> compile_errors(const std::string& said, const std::string& file,
                                         const std::string& source, Dialect dialect) {
  if (is_blank(source)) return {{file, "the file is empty", 0, 0, {}, {}, {}}};
  const SourceTokens tokens = tokens_of(source);
  if (const BracketFault fault = wrong_bracket(tokens); fault.line > 0)
    return {{file, fault.says, fault.line, fault.column, "bracket", fault.says, fault.advice}};
  Errors errors(file);
  for (const auto& line : lines_of(said)) errors.read(line.substr(0, kLongestLine));
  const LearnersText text(source, dialect);
  if (errors.out.empty()) return {error_elsewhere(errors.elsewhere(), said, file, text)};
  std::vector<CompileError> out = one_for_each_line(errors.out, text);
  const std::string call = with_plain_quotes(errors.elsewhere().said);
  if (out.front().cause == "undeclared")  // a removed parameter
    if (const ErrorReason reason = reason_of_parameters(call, text); !reason.cause.empty())
      give_reason(out.front(), reason);
  if (has_followers(out.front())) out.resize(1);
  for (std::size_t i = 1; i < out.size(); ++i)
    if (!is_independent(out[i])) out[i].cause.clear(), out[i].why.clear(), out[i].advice.clear();
  return out;
}

}  // namespace tessera::course
