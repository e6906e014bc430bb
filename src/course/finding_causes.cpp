// The meaning of a checker's finding for the author of the line.
#include <algorithm>
#include <regex>
#include <set>
#include <utility>

#include "answer.hpp"
#include "cause_parts.hpp"
#include "names.hpp"
#include "source.hpp"
#include "tessera/core/text.hpp"

namespace tessera::course {

namespace {

const PuzzleCoverage* output_of(const PuzzleCase& c) {
  for (const auto& t : c.coverage)
    if (t.is_output) return &t;
  return nullptr;
}
bool any_never_written(const PuzzleCase& c) {
  return std::any_of(c.coverage.begin(), c.coverage.end(),
                     [](const auto& t) { return t.is_output && t.written < t.elements; });
}
bool any_output_read(const PuzzleCase& c) {
  return std::any_of(c.coverage.begin(), c.coverage.end(),
                     [](const auto& t) { return t.is_output && t.read > 0; });
}

/// Does the kernel read elements of the tensor? In plain CUDA, whose reads are not counted.
bool reads_in_cuda(const PuzzleAttempt& attempt, const PuzzleCase& c, const std::string& tensor) {
  const std::regex read(R"(\b)" + tensor + R"(\s*\[[^\]]*\](?!\s*=[^=]))");
  const auto lines = c.coverage.empty() ? lines_of(attempt.source) : std::vector<std::string>{};
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
    return std::regex_search(without_comment(line), read);
  });
}

/// Do some elements have more than one writer, and others none? The checker only notes it if all
/// writers store the same number.
bool writes_meet(const PuzzleCase& c) {
  return any_never_written(c) && find_finding(c, {"race"}, "global") != nullptr;
}

/// Of the barriers at which threads wait, the one inside an if; else the first of them.
int line_in_guard(const PuzzleAttempt& attempt, const PuzzleCase& c, const PuzzleFinding& f) {
  const int begin = kernel_named(attempt.source, c.kernel).first;
  for (const int line : lines_of_finding(attempt, f))
    if (has_word(line_of(attempt.source, line), "if") ||
        guard_between(attempt.source, begin, line).first > 0)
      return line;
  return f.line;
}

Cause cause_of_barrier(const PuzzleAttempt& attempt, const PuzzleCase& c, const PuzzleFinding& f) {
  if (line_of(attempt.source, f.line).find("mma(") != std::string::npos)
    return cause("mma-misuse", cat("line ", f.line,
                                   " is reached by some lanes only: it is inside an if, or "
                                   "after a return"));
  const int last = f.line > 0 ? f.line : 1 << 20;
  const int leaves = line_with(attempt.source, "return", 1, last);
  if (f.kind == "early-return" && leaves > 0 &&
      line_with(attempt.source, "return;", leaves, leaves) == leaves)
    return cause(
        "barrier-in-guard", cat("some threads return before the barrier in line ", f.line),
        cat("no return before a barrier: line ", leaves, "; guard the load and the store instead"));
  const int line = line_in_guard(attempt, c, f);
  return cause("barrier-in-guard", line > 0 ? cat("the barrier in line ", line,
                                                  " is inside an if or a loop, "
                                                  "or after a return, that only some threads pass")
                                            : "");
}

Cause cause_of_wait(const PuzzleAttempt& attempt) {
  const int all = 1 << 20;
  if (line_with(attempt.source, "wait<", 1, all) > 0 &&
      line_with(attempt.source, "commit(", 1, all) == 0)
    return cause("forgotten-wait", "wait<0>(t) waits only for groups that are committed",
                 "commit(t) after the copies, before wait<0>(t)");
  return cause("forgotten-wait");
}

/// Different numbers written to one element, by threads or blocks.
Cause cause_of_meeting(const PuzzleAttempt& attempt, const PuzzleCase& c, const PuzzleFinding& f) {
  const std::string line = line_of(attempt.source, f.line) + line_of(attempt.source, f.other_line);
  const bool is_atomic = line.find("atomic_add(") != std::string::npos;
  static const std::regex stores_old(R"(\S\s*=\s*t\.atomic_add\()");
  if (is_atomic && f.line == f.other_line && f.problem.find(" reads ") == std::string::npos &&
      std::regex_search(line, stores_old))
    return cause("needs-atomic",
                 "t.atomic_add has stored the sum already: it gives back the number that was there "
                 "before, and the line stores that over it",
                 "t.atomic_add alone, without the load before it");
  if (is_atomic && f.line == f.other_line)
    return cause("needs-atomic",
                 "the element is read besides: between that and the addition another thread adds",
                 "the second argument of t.atomic_add is the sum alone, without the old value");
  if (is_atomic)
    return cause("needs-atomic", cat(f.problem), "every line that changes the element is atomic");
  if (any_output_read(c) || reads_in_cuda(attempt, c, f.tensor)) return cause("needs-atomic");
  const bool has_parts = c.grid[2] > 1;
  return cause("same-place",
               cat(f.is_of_blocks ? "blocks" : "threads",
                   " write the same element, and only what the last one writes stays"),
               has_parts ? "t.atomic_add(C(row, col), sum) adds to what the others have written"
                         : place_advice(attempt, c));
}

Cause cause_of_unwritten(const PuzzleAttempt& attempt, const PuzzleCase& c,
                         const PuzzleFinding& f) {
  const Loop loop = loop_around(attempt.source, f.line);
  const bool is_shared = f.memory == "shared";
  const bool loads_here = loop.first > 0 &&
                          barrier_between(attempt.source, loop.first - 1, f.line) > 0 &&
                          loop.last <= f.line;
  if (is_shared && loads_here) return cause("read-too-early", f.problem);
  for (const auto& t : c.coverage)
    if (is_shared && !t.is_output && t.read > 0 && t.read < t.elements)
      return cause(
          "uninitialized",
          cat(f.problem, ": only ", t.read, " of ", t.elements, " elements of ", t.tensor,
              " were loaded"),
          "load every element of the tile that will be read, in a loop if a thread has several");
  const bool is_output = std::any_of(c.coverage.begin(), c.coverage.end(), [&](const auto& t) {
    return t.is_output && t.tensor == f.tensor;
  });
  for (const auto& t : c.coverage)
    if (is_output && !t.is_output && t.read == 0)
      return cause("uninitialized", f.problem,
                   cat("no thread reads ", t.tensor, ": is it meant here?"));
  if (is_output)
    return cause("uninitialized", f.problem,
                 cat(f.tensor,
                     " holds no numbers yet: add up in a variable that begins with 0, "
                     "and store it once"));
  if (!is_shared)
    return cause("uninitialized", f.problem,
                 f.problem.find("variable") != std::string::npos ? "begin sums with 0" : "");
  const bool is_all_read = std::all_of(c.coverage.begin(), c.coverage.end(), [](const auto& t) {
    return t.is_output || t.read == t.elements;
  });
  const Loop around = loop_around(attempt.source, f.line);
  const std::string variable = loop_variable(line_of(attempt.source, around.first));
  if (is_all_read && !variable.empty())
    return cause(
        "uninitialized", f.problem,
        cat("every element of the inputs is loaded: does the loop over ", variable, " in line ",
            around.first, " go too far? Otherwise write 0 into the rest of the tile"));
  return cause("uninitialized", f.problem, "write every element of a tile that will be read");
}

/// If each round writes all of its elements, the old ones belong to another round.
Cause cause_of_stale(const PuzzleAttempt& attempt, const PuzzleFinding& f) {
  const std::string fills = line_of(attempt.source, f.other_line);
  const bool is_guarded =
      fills.find("if (") != std::string::npos || fills.find('?') != std::string::npos;
  if (f.other_file != attempt.file) return cause("stale-edge");
  if (!is_guarded) return cause("read-too-early", f.problem);
  return cause("stale-edge", cat("where the next tile reaches past the matrix, line ", f.other_line,
                                 " loads nothing, and the old numbers count again"));
}

/// An index outside a local array, in a line that indexes all arrays by a loop's variable.
Cause of_loop_over_array(const std::string& source, const PuzzleFinding& f) {
  static const std::regex size(R"( of a local array, which is a '[^\[]*\[(\d+)\]')"),
      index(R"(\[\s*([^\]]*?)\s*\])");
  std::smatch array;
  if (!std::regex_search(f.problem, array, size)) return {};
  const std::string line = line_of(source, f.line);
  std::set<std::string> indices;
  for (std::sregex_iterator each(line.begin(), line.end(), index), end; each != end; ++each)
    indices.insert((*each)[1]);
  if (indices.size() != 1) return {};
  const std::string variable = *indices.begin();
  const Loop loop = loop_over(source, f.line, variable);
  if (loop.first == 0) return {};
  return cause("loop-too-long",
               cat(f.problem, ": the loop in line ", loop.first, " takes ", variable, " too far"),
               cat("that loop may run only while ", variable, " < ", array[1].str()));
}

}  // namespace

const PuzzleFinding* find_finding(const PuzzleCase& c,
                                  std::initializer_list<std::string_view> kinds,
                                  std::string_view memory) {
  for (const auto& f : c.findings) {
    const bool is_kind = std::find(kinds.begin(), kinds.end(), f.kind) != kinds.end();
    if (is_kind && f.counts() && (memory.empty() || f.memory == memory)) return &f;
  }
  return nullptr;
}

const PuzzleFinding* fatal_of(const PuzzleCase& c) {
  return find_finding(c, {"endless", "deadlock", "crash", "exception", "stack-overflow",
                          "impossible-launch", "mma-misuse", "misaligned"});
}

std::string place_advice(const PuzzleAttempt& attempt, const PuzzleCase& c) {
  const bool is_line = c.block[1] == 1 && c.grid[1] == 1;
  const PuzzleCoverage* const out = output_of(c);
  const index_t threads = c.grid[0] * c.grid[1] * c.block[0] * c.block[1];
  if (out != nullptr && out->elements > threads && c.grid[0] * c.grid[1] == 1)
    return cat("a thread has ", out->elements / threads,
               " elements here: does it come to all of them, and no other thread to these?");
  if (is_line && c.grid[0] == 1) return "each thread has its own element: out(t.thread)";
  const std::string x = block_name(attempt, c, 0), y = block_name(attempt, c, 1);
  if (is_line) return cat("the element's number is t.block.x * ", x, " + t.thread.x");
  if (c.grid[0] * c.grid[1] == 1) return "the row is t.thread.y, the column t.thread.x";
  // the blocks form a line: the puzzle says which part of the matrix belongs to which
  if (c.grid[1] == 1)
    return cat(stands_in(attempt.source, "block.y") ? "t.block.y is always 0 here: " : "",
               "each of the ", c.grid[0], " blocks along x has a part of the result for itself");
  return cat("the row is t.block.y * ", y, " + t.thread.y, the column t.block.x * ", x,
             " + t.thread.x");
}

Cause cause_of_local_array(const std::string& problem) {
  if (problem.find(" of a local array, which is ") == std::string::npos) return {};
  return cause("wrong-index", problem,
               "the elements of float x[N] are x[0] to x[N - 1]: a loop runs while j < N");
}

namespace {

Cause cause_of_end(const PuzzleAttempt& attempt, const PuzzleFinding& f) {
  if (f.kind == "endless" || f.kind == "deadlock") {
    const int loop = loop_around(attempt.source, f.line).first;
    return cause("endless",
                 loop > 0 ? cat("the loop in line ", loop, " never comes to its end") : f.problem);
  }
  if (f.kind == "stack-overflow")
    return cause("crash", f.problem, "does the kernel call itself, or hold a large array?");
  if (const Cause loop = of_loop_over_array(attempt.source, f); !loop.id.empty()) return loop;
  if (const Cause outside = cause_of_local_array(f.problem); !outside.id.empty()) return outside;
  static const std::regex fragment(
      R"(another tile, at .*:(\d+):\d+: expected (\d+) x (\d+), got (\d+ x \d+))");
  if (std::smatch m; std::regex_search(f.problem, m, fragment))
    return cause("wrong-tile",
                 cat("in line ", m[1].str(), " the matrix instruction gets ", m[4].str(),
                     " elements, and takes ", m[2].str(), " x ", m[3].str()),
                 cat("the shape comes first: tile<", m[2].str(), ", ", m[3].str(), ">(...)"));
  if (f.problem.find("SIGFPE") != std::string::npos)
    return cause("crash", f.problem, "which whole number is divided by, with / or %, and is 0?");
  if (f.problem.find("threw: no memory") != std::string::npos)
    return cause("exception", f.problem,
                 "a program may have 1 GiB of memory, and a kernel needs none");
  return cause(f.kind, f.problem);
}

}  // namespace

Cause cause_of_findings(const PuzzleAttempt& attempt, const PuzzleCase& c) {
  if (const auto* f = fatal_of(c)) return told_by(*f, cause_of_end(attempt, *f));
  if (const auto* f = find_finding(c, {"diverged-barrier", "missing-barrier", "early-return"}))
    return told_by(*f, cause_of_barrier(attempt, c, *f));
  if (const auto* f = find_finding(c, {"out-of-bounds"}, "local"); f && f->tensor == "warp")
    return told_by(*f, cause("barrier-in-guard", f->problem,
                             "all lanes call the shuffle, those without an element with a number "
                             "that changes nothing"));
  if (const auto* f = find_finding(c, {"out-of-bounds"}, "global")) {
    if (Cause overlap = cause_of_overlap(attempt, c); !overlap.id.empty())
      return told_by(*f, std::move(overlap));
  }
  if (const auto* f = find_finding(c, {"out-of-bounds", "outside-view"}))
    return told_by(*f, cause_of_outside(attempt, c, *f));
  if (Cause of_gates = cause_of_gates(attempt, c); !of_gates.id.empty()) return of_gates;
  for (const std::string_view kind : {"async-not-waited", "async-never-waited"})
    if (const auto* f = find_finding(c, {kind})) return told_by(*f, cause_of_wait(attempt));
  const auto* const meeting = find_finding(c, {"race"}, "global");
  if (writes_meet(c)) return told_by(*meeting, cause("same-place", {}, place_advice(attempt, c)));
  const bool is_of_one_value =
      meeting != nullptr && meeting->problem.find(" the same value to it ") != std::string::npos;
  if (meeting != nullptr && !is_of_one_value)
    return told_by(*meeting, cause_of_meeting(attempt, c, *meeting));
  if (const auto* f = find_finding(c, {"race"}, "shared"))
    return told_by(*f, cause_of_race(attempt, c, *f));
  if (const auto* f = find_finding(c, {"stale-read"}))
    return told_by(*f, cause_of_stale(attempt, *f));
  if (const auto* f = find_finding(c, {"uninitialized-read"}))
    return told_by(*f, cause_of_unwritten(attempt, c, *f));
  return {};
}

}  // namespace tessera::course
