// Rewrites the problems of findings: see finding_text.hpp.
#include "finding_text.hpp"

#include <algorithm>
#include <regex>
#include <set>

#include "shell/options.hpp"
#include "source.hpp"
#include "tessera/core/text.hpp"

namespace tessera::course {

namespace {

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; !from.empty() && (at = text.find(from, at)) != std::string::npos;
       at += to.size())
    text.replace(at, from.size(), to);
}

/// "a has 8 elements, 0 to 7", "A is 2 x 2".
std::string extents_text(const std::string& name, const std::vector<index_t>& extents) {
  if (extents.size() == 1 && extents[0] == 1) return cat(name, " has 1 element");
  if (extents.size() == 1)
    return cat(name, " has ", extents[0], " elements, 0 to ", extents[0] - 1);
  std::string out = name + " is ";
  for (const index_t& each : extents) out += cat(&each == &extents.front() ? "" : " x ", each);
  return out;
}

/// If an index leads into another tensor, the line still means the tensor that it names.
void name_meant(const PuzzleAttempt& attempt, const PuzzleCase& c, PuzzleFinding& f) {
  const std::string line = line_of(attempt.source, f.line);
  if (!f.is_outside() || f.memory != "global" || f.file != attempt.file || has_word(line, f.tensor))
    return;
  std::set<std::string> names;
  for (const auto& t : c.coverage)
    if (has_word(line, t.tensor)) names.insert(t.tensor);
  if (names.size() != 1) return;
  replace_all(f.problem, ", of " + f.tensor, ", of " + *names.begin());
  f.tensor = *names.begin();
}

/// The element directly after the end of a line of elements, which the checker reports by its
/// bytes.
void name_next(const PuzzleCase& c, PuzzleFinding& f) {
  const std::string place = cat(" 0 bytes after the end of ", f.tensor);
  const auto at = f.problem.find(place);
  if (at == std::string::npos) return;
  for (const auto& t : c.coverage) {
    if (t.tensor != f.tensor || std::min(t.rows, t.cols) != 1) continue;
    f.extents = {t.elements};
    f.element = {t.elements};
    f.problem.replace(at, place.size(),
                      cat(" ", f.tensor, "(", t.elements,
                          "), which does not exist: ", extents_text(f.tensor, f.extents)));
  }
}

/// "A(2,0), which does not exist: A is 2 x 2" instead of "element (2,0) of a view of which ...".
void name_missing(const PuzzleCase& c, PuzzleFinding& f) {
  static const std::regex said(R"(element (\([-\d,]*\)) of a view of which \(([-\d,]*)\) exists)");
  std::smatch match;
  if (!std::regex_search(f.problem, match, said)) return;
  for (const auto& each : shell::split(match[2].str(), ','))
    f.extents.push_back(std::atoll(std::string(each).c_str()));
  const auto is_whole = [&](const PuzzleCoverage& t) {
    if (t.tensor != f.tensor) return false;
    return f.extents.size() == 1 ? f.extents[0] == t.elements
                                 : f.extents == std::vector<index_t>{t.rows, t.cols};
  };
  f.is_of_part =
      f.memory == "global" && std::none_of(c.coverage.begin(), c.coverage.end(), is_whole);
  const std::string name = f.tensor.empty() ? "the view" : f.tensor;
  const std::string what = f.is_of_part ? "a tile of " + name : name;
  std::string out = match.prefix().str();
  out += f.is_of_part ? cat("element ", match[1].str(), " of ", what) : name + match[1].str();
  out += cat(", which does not exist: ", extents_text(f.is_of_part ? "here it" : name, f.extents));
  if (f.kind == "outside-view") out += ", and in memory that is another element";
  std::string rest = match.suffix().str();
  replace_all(rest, ", of " + f.tensor, "");
  replace_all(rest, ", outside of all memory", "");
  f.problem = out + rest;
}

/// If there are several blocks, "thread (4,0,0)" is one of many.
void name_block(const PuzzleCase& c, PuzzleFinding& f) {
  static const std::regex thread(R"(^thread \([^)]*\)(?! of block))");
  if (c.grid[0] * c.grid[1] * c.grid[2] <= 1 || f.is_of_blocks) return;
  f.problem = std::regex_replace(
      f.problem, thread, cat("$& of block (", f.block[0], ",", f.block[1], ",", f.block[2], ")"));
}

/// The waiting threads come first, then what the others did, in plain words. Without a return
/// before it, no thread has returned early: the barrier is one that only some threads reach.
void name_barrier(const PuzzleAttempt& attempt, PuzzleFinding& f) {
  static const std::regex said(
      R"(^(\d+ of \d+ threads) have ended after \d+ barriers? \((.*)\), while (.*), which is number \d+)");
  if (f.kind != "early-return") return;
  f.problem = std::regex_replace(f.problem, said, "$3, and $1 run to their end without it ($2)");
  if (f.line > 0 && line_with(attempt.source, "return", 1, f.line) == 0)
    f.kind = "diverged-barrier";
}

/// For a tensor that was not touched enough: the line that touches it.
void place_coverage(const PuzzleAttempt& attempt, const PuzzleCase& c, PuzzleFinding& f) {
  const bool is_store = f.kind == "never-written";
  if (f.line > 0 || (!is_store && f.kind != "never-read")) return;
  for (const auto& each : c.accesses)
    if (each.tensor == f.tensor && each.is_store == is_store && each.file == attempt.file &&
        f.line == 0)
      f.file = each.file, f.line = each.line;
}

/// For a thread that did not end before it touched anything: the lines where it can be.
void place_end(const PuzzleAttempt& attempt, const PuzzleCase& c, PuzzleFinding& f) {
  static constexpr std::string_view ends[] = {"endless", "crash", "exception", "stack-overflow"};
  if (f.line > 0 || std::find(std::begin(ends), std::end(ends), f.kind) == std::end(ends)) return;
  const Loop kernel = kernel_named(attempt.source, c.kernel);
  const int first = line_with(attempt.source, "operator()", kernel.first, kernel.last) + 1;
  const auto touches = [&](int line) {
    return std::any_of(c.coverage.begin(), c.coverage.end(), [&](const auto& t) {
      return has_word(line_of(attempt.source, line), t.tensor);
    });
  };
  int end = kernel.last;  // the last line that is more than brackets
  while (end > first && line_of(attempt.source, end).find_first_not_of(" {};") == std::string::npos)
    --end;
  int last = first;
  while (last < end && !touches(last)) ++last;
  int loops = 0, loop = 0;
  for (const Loop& each : loops_in(attempt.source))
    if (first <= each.first && each.last <= kernel.last) ++loops, loop = each.first;
  const bool is_loop = f.kind == "endless" && loops == 1;
  if (is_loop || first == last) f.file = attempt.file, f.line = is_loop ? loop : first;
  f.problem += is_loop         ? cat("; the only loop is in line ", loop)
               : first == last ? cat(", in line ", first)
                               : cat("; it had touched no tensor, so it was in one of the lines ",
                                     first, " to ", last);
}

}  // namespace

void name_elements(PuzzleAttempt& attempt) {
  for (auto& c : attempt.outcome->cases) {
    for (auto& f : c.findings) {
      place_coverage(attempt, c, f);
      place_end(attempt, c, f);
      name_meant(attempt, c, f);
      name_missing(c, f);
      name_next(c, f);
      name_barrier(attempt, f);
      name_block(c, f);
    }
  }
}

}  // namespace tessera::course
