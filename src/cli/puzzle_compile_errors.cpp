// What the compiler said, at the learner's lines: see puzzle_program.hpp.
#include <algorithm>
#include <filesystem>
#include <regex>

#include "compiler_messages.hpp"
#include "puzzle_braces.hpp"
#include "puzzle_program.hpp"
#include "puzzle_source.hpp"
#include "tessera/core/text.hpp"

namespace tessera::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestLine = 4000;  ///< of a compiler: expressions are looked for in it

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// Collects those of the learner's file; else `somewhere`, the first of any other.
class Errors {
 public:
  explicit Errors(std::string file) : file_(std::move(file)) {}

  void read(const std::string& line) {
    static const std::regex place(R"(^([^:]+):(\d+):(?:(\d+):)?\s*(.*)$)");
    std::smatch match;
    if (has(line, "undefined reference to") && somewhere_.empty())
      somewhere_ = line.substr(line.find("undefined reference to"));
    if (!std::regex_match(line, match, place)) {
      if (has(line, ": In ")) asked_ = {};
      return;
    }
    const std::string name = fs::path(match[1].str()).filename().string();
    CompileError here{
        file_, match[4], std::atoi(match[2].str().c_str()), std::atoi(match[3].str().c_str()), {}};
    const bool is_theirs = name == file_;
    if (here.message.starts_with("error: ") || here.message.starts_with("fatal error: "))
      return error(std::move(here), name);
    if (is_theirs && has(here.message, "required")) asked_ = here;
    else if (is_theirs && has(here.message, "instantiation of") && out.empty() &&
             !somewhere_.empty())  // Clang says it behind the error
      out.push_back({file_, somewhere_, here.line, here.column, {}});
    else if (is_theirs && !out.empty()) note(here.message);
  }

  /// Of an error that no line of the learner's has.
  const std::string& somewhere() const { return somewhere_; }
  std::vector<CompileError> out;

 private:
  void error(CompileError here, const std::string& name) {
    here.message = in_plain_words(here.message.substr(here.message.find(": ") + 2));
    const bool is_theirs = name == file_;
    if (!is_theirs && asked_.line > 0) here.line = asked_.line, here.column = asked_.column;
    if (is_theirs || asked_.line > 0) {
      const bool is_known = std::any_of(out.begin(), out.end(), [&](const auto& each) {
        return each.line == here.line && each.message == here.message;
      });
      if (!is_known) out.push_back(here);
    } else if (somewhere_.empty()) {
      somewhere_ = name == "spec.hpp" ? wanted_by_puzzle(here.message) : here.message;
    }
    if (!is_theirs) asked_ = {};
  }

  void note(const std::string& message) {
    static const std::regex forgotten(R"(did you forget to (?:‘|')(#include <[^>]+>))");
    std::smatch match;
    if (std::regex_search(message, match, forgotten))
      out.back().advice = cat(match[1].str(), " belongs at the top of the file");
  }

  /// The puzzle runs what the file names, and does not find it.
  static std::string wanted_by_puzzle(const std::string& message) {
    static const std::regex unknown(
        R"((?:(?:‘|')(\w+)(?:’|') was not declared|undeclared identifier '(\w+)').*)");
    std::smatch match;
    if (!std::regex_search(message, match, unknown)) return message;
    return cat("the puzzle runs ‘", match[1].str(), match[2].str(),
               "’, and finds none in the file");
  }

  std::string file_, somewhere_;
  CompileError asked_;  // the learner's line that the following error was reached from
};

bool is_blank(const std::string& source) {
  return source.find_first_not_of(" \t\r\n") == std::string::npos;
}

}  // namespace

std::vector<CompileError> compile_errors(const std::string& said, const std::string& file,
                                         const std::string& source) {
  if (is_blank(source)) return {{file, "the file is empty", 0, 0, {}}};
  Errors errors(file);
  for (const auto& line : lines_of(said)) errors.read(line.substr(0, kLongestLine));
  auto& out = errors.out;
  const Brace brace = wrong_brace(source);
  if (out.empty() && brace.line > 0) out.push_back({file, brace.says, brace.line, 0, {}});
  if (out.empty())
    out.push_back(
        {file,
         errors.somewhere().empty() ? said.substr(0, said.find('\n')) : errors.somewhere(),
         0,
         0,
         {}});
  for (auto& each : out)
    if (each.advice.empty())
      each.advice = compile_advice(each.message, line_of(source, each.line), source);
  return out;
}

}  // namespace tessera::cli
