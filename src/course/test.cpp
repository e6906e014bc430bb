// `tessera puzzle test` and `tessera puzzle new`, for teachers: see requests.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <nlohmann/json.hpp>

#include "answer.hpp"
#include "process/signals.hpp"
#include "requests.hpp"
#include "shell/json_text.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::course {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

/// A text of the course, and its expected result.
struct Claim {
  const Puzzle* puzzle;
  std::string what, cause;  ///< cause: empty if it must be solved
  std::vector<std::string> says;
  PuzzleTry one;
  Mistake mistake;  ///< of a claim about a mistake
};

bool is_of_start(const Mistake& m) { return m.right.empty() && m.wrong.empty(); }

std::vector<Claim> claims_of(const Puzzle& puzzle, bool has_pictures) {
  std::vector<Claim> out;
  const auto attempt_at = [&](const std::string& source, const std::string& variant) -> PuzzleTry {
    return {&puzzle, source, variant, cat(puzzle.id, "_", out.size()), has_pictures};
  };
  out.push_back({&puzzle, "the solution", "", {}, attempt_at(puzzle.solution(), ""), {}});
  const auto mistakes = puzzle.mistakes();
  const auto start = std::find_if(mistakes.begin(), mistakes.end(), is_of_start);
  const bool is_told = start != mistakes.end();
  out.push_back({&puzzle,
                 "the file at the start",
                 is_told ? start->cause : "unfilled",
                 is_told ? start->says : std::vector<std::string>{},
                 attempt_at(puzzle.start(), ""),
                 {}});
  for (const auto& m : mistakes)
    if (!is_of_start(m))
      out.push_back(
          {&puzzle, m.title, m.cause, m.says, attempt_at(with_mistake(puzzle, m), m.variant), m});
  return out;
}

/// Runs of blanks and line ends as one blank.
std::string flat(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool is_blank = c == ' ' || c == '\n';
    if (!is_blank) out += c;
    else if (!out.empty() && out.back() != ' ') out += ' ';
  }
  return out;
}

/// A fact of the spec that the page's configuration does not contain; empty: none.
std::string unsaid(const Puzzle& puzzle, const PuzzleOutcome& outcome) {
  std::string out;
  for (const auto& line : configuration_of(outcome))
    if (flat(puzzle.configuration).find(flat(line)) == std::string::npos)
      out += cat("page.md: '## Configuration' lacks '- ", line, "', as the spec runs it\n");
  return out;
}

/// What is wrong with it; empty: the claim holds.
std::string broken(const shell::Context& context, const Claim& claim,
                   const PuzzleAttempt& attempt) {
  if (!attempt.errors.empty() && claim.cause != kDoesNotCompile) {
    const CompileError& e = attempt.errors.front();
    return cat("does not compile: line ", e.line, ": ", e.message);
  }
  if (claim.cause.empty() && is_solved(attempt))
    return claim.puzzle->is_in_cuda ? "" : unsaid(*claim.puzzle, *attempt.outcome);
  const std::string got = is_solved(attempt) ? "solved" : cause_of(attempt).id;
  if (claim.cause.empty())
    return cat("is not right: ", got, "\n", answer_text(context, *claim.puzzle, attempt));
  if (claim.cause != got)
    return cat("expected ", claim.cause, ", got ", got, "\n",
               answer_text(context, *claim.puzzle, attempt));
  const std::string text = answer_text(context, *claim.puzzle, attempt);
  for (const auto& each : claim.says)
    if (text.find(each) == std::string::npos)
      return cat("the answer does not say '", each, "'\n", text);
  return {};
}

ordered_json json_of(const Puzzle& puzzle) {
  ordered_json out = {{"id", puzzle.id},
                      {"number", puzzle.number},
                      {"title", puzzle.title},
                      {"variants", puzzle.variants},
                      {"idea", puzzle.idea},
                      {"pictures", puzzle.pictures},
                      {"configuration", puzzle.configuration},
                      {"hints", puzzle.hints},
                      {"explanation", puzzle.explanation},
                      {"start", puzzle.start()},
                      {"solution", puzzle.solution()},
                      {"texts", ordered_json::array()}};
  if (puzzle.has_cuda() && !puzzle.is_in_cuda) out["cuda"] = in_cuda(puzzle).solution();
  if (!puzzle.cuda_note.empty()) out["cuda_note"] = puzzle.cuda_note;
  return out;
}

ordered_json json_of(const shell::Context& context, const Claim& claim,
                     const PuzzleAttempt& attempt, const std::string& why) {
  ordered_json out = {{"what", claim.what}, {"as_it_must_be", why.empty()}};
  if (!why.empty()) out["why_not"] = why;
  if (!claim.mistake.right.empty())
    out["change"] = {{"variant", claim.mistake.variant},
                     {"removed", claim.mistake.right},
                     {"added", claim.mistake.wrong}};
  out["text"] = answer_text(context, *claim.puzzle, attempt);
  out["answer"] = answer_json(*claim.puzzle, claim.mistake.variant, attempt);
  return out;
}

std::vector<PuzzleAttempt> attempts_of(const std::vector<Claim>& claims, double time_limit_s,
                                       CudaBuilder build_cuda) {
  std::vector<PuzzleTry> tries;
  for (const auto& each : claims) tries.push_back(each.one);
  return attempt_together(tries, time_limit_s, build_cuda);
}

constexpr const char* kSource =
    R"(// A puzzle to be changed: out = 2 a, one thread for each element.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

struct Doubled {
  static constexpr const char* name = "doubled";
  static constexpr Dim3 block{8};
  TESSERA_KERNEL void operator()(auto t, auto a, auto out) const {
    //> FILL ME IN (1 line): what goes into out(t.thread)?
    out(t.thread) = 2 * a(t.thread);
    //> end
  }
};
)";
constexpr const char* kSpec = R"(#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto a = puzzle::counting("a", 1, 8);
  auto out = puzzle::output("out", 1, 8, [](index_t, index_t i) { return 2.0 * double(i); });
  run.launch("8 elements", Dim3{1}, Doubled{}, puzzle::line(a), puzzle::line(out));
}
)";
constexpr const char* kPage = R"(# Doubled

Each thread writes one element.

## Picture

`threads`

Eight threads, eight elements.

## Configuration

- a (8), out (8); grid 1, blocks of 8 threads.

## Hint

Thread i knows its number: `t.thread`.

## Explanation

One thread, one element.
)";
constexpr const char* kMistakes = R"(== tripled
cause: all-wrong
-    out(t.thread) = 2 * a(t.thread);
+    out(t.thread) = 3 * a(t.thread) + 1;
)";

}  // namespace

int test_course(const shell::Context& context, const PuzzleRequest& request) {
  const process::InterruptsAreNoted noted;
  const auto course = requested_course(request);
  std::vector<const Puzzle*> wanted;
  for (const auto& each : course)
    if (request.ids.empty()) wanted.push_back(&each);
  for (const auto& id : request.ids) wanted.push_back(&find_puzzle(course, id));
  // Two programs at a time, each with several puzzles, so that it reads the library's headers once.
  constexpr std::size_t at_once = 2;
  const std::size_t shared = std::min(at_once, wanted.size());
  std::vector<std::vector<Claim>> groups(shared);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    for (auto& claim : claims_of(*wanted[i], context.json)) {
      const bool alone = claim.cause == kDoesNotCompile;  // it would break the others
      if (alone) groups.emplace_back();
      groups[alone ? groups.size() - 1 : i % shared].push_back(std::move(claim));
    }
  std::vector<std::future<std::vector<PuzzleAttempt>>> attempts;
  for (const auto& group : groups)
    attempts.push_back(
        std::async(std::launch::async, [&] { return attempts_of(group, 1, request.build_cuda); }));
  std::size_t good = 0, bad = 0;
  std::string out;
  std::map<const Puzzle*, ordered_json> document;
  for (const Puzzle* each : wanted) document[each] = json_of(*each);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto done = attempts[g].get();
    for (std::size_t i = 0; i < done.size(); ++i) {
      const Claim& claim = groups[g][i];
      const std::string why = broken(context, claim, done[i]);
      ++(why.empty() ? good : bad);
      if (!why.empty()) out += cat("FAILED: ", claim.puzzle->id, ": ", claim.what, ": ", why, "\n");
      else context.detail(cat(claim.puzzle->id, ": ", claim.what, ": as it must be"));
      if (context.json)
        document[claim.puzzle]["texts"].push_back(json_of(context, claim, done[i], why));
    }
  }
  if (context.json) {
    ordered_json all = {{"good", good}, {"bad", bad}, {"puzzles", ordered_json::array()}};
    for (const Puzzle* each : wanted) all["puzzles"].push_back(std::move(document[each]));
    context.print(shell::json_text(all));
  } else {
    context.print(out + cat(wanted.size(), request.is_in_cuda ? " puzzles in CUDA: " : " puzzles: ",
                            good, " as they must be, ", bad, " not\n"));
  }
  return bad == 0 ? 0 : 1;
}

int new_puzzle(const shell::Context& context, const PuzzleRequest& request) {
  const std::string& name = request.id;
  const bool is_name = name.size() > 3 && name[0] == 'p' &&
                       std::isdigit(static_cast<unsigned char>(name[1])) != 0 &&
                       name.find('_') != std::string::npos && name.find('/') == std::string::npos;
  if (!is_name)
    throw Error(Category::argument, "new: not a name for a puzzle", "pNN_name, like p90_mine",
                name);
  const fs::path folder = fs::path(request.course.empty() ? "." : request.course) / name;
  if (fs::exists(folder))
    throw Error(Category::argument, cat("new: ", folder.string(), " exists already"));
  fs::create_directories(folder);
  for (const auto& [file, text] : {std::pair{"puzzle.cpp", kSource},
                                   {"spec.hpp", kSpec},
                                   {"page.md", kPage},
                                   {"mistakes.txt", kMistakes}})
    std::ofstream(folder / file) << text;
  context.print(
      cat(folder.string(),
          " holds puzzle.cpp, spec.hpp, page.md and mistakes.txt; 'tessera puzzle test --course ",
          folder.parent_path().string(), "' tests them\n"));
  return 0;
}

}  // namespace tessera::course
