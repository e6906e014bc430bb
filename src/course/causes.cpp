// Findings first, since they are certain; then untouched elements; then the pattern of the numbers;
// then their positions. Independent of the puzzles, which have their own texts in their spec.hpp.
#include "causes.hpp"

#include <algorithm>
#include <regex>

#include "cause_parts.hpp"
#include "source.hpp"
#include "tessera/core/text.hpp"

namespace tessera::course {

namespace {

/// What is in plain CUDA has no coverage.
bool none_touched(const PuzzleCase& c) {
  return !c.coverage.empty() &&
         std::all_of(c.coverage.begin(), c.coverage.end(),
                     [](const auto& t) { return t.is_output ? t.written == 0 : t.read == 0; });
}
bool none_written(const PuzzleCase& c) {
  return !c.coverage.empty() &&
         std::none_of(c.coverage.begin(), c.coverage.end(),
                      [](const auto& t) { return t.is_output && t.written > 0; });
}

/// For a puzzle with several kernels, if this one is empty and the file was changed: names it.
Cause cause_of_untouched(const PuzzleAttempt& attempt, const PuzzleCase& c) {
  Cause out = cause("unfilled");
  for (const auto& each : attempt.variants) {
    if (!c.what.starts_with(each + ":")) continue;
    out.title = cat("nothing is filled in yet in the part --", each);
    for (const auto& other : attempt.variants)
      if (other != each) out.advice += cat("; --", other, " runs that part alone");
  }
  return out;
}

/// The text has accesses, and no thread comes to one; empty id: it has none.
Cause cause_of_no_thread(const PuzzleAttempt& attempt, const PuzzleCase& c) {
  const Loop kernel = kernel_named(attempt.source, c.kernel);
  for (int i = kernel.first + 1; i <= kernel.last; ++i) {
    const std::string line = line_of(attempt.source, i);
    const bool is_access = std::any_of(c.coverage.begin(), c.coverage.end(), [&](const auto& t) {
      return !indices_of(line, t.tensor).empty();
    });
    if (!is_access || line.find("operator()") != std::string::npos) continue;
    const int guard = line.find("if (") != std::string::npos
                          ? i
                          : guard_between(attempt.source, kernel.first, i).first;
    const PuzzleFinding* const outside = find_finding(c, {"out-of-bounds", "outside-view"});
    return cause("no-thread",
                 outside == nullptr
                     ? cat("no thread comes to the elements of line ", i)
                     : cat("only elements that do not exist are accessed: ", outside->problem),
                 guard > 0 ? cat("which threads pass the if in line ", guard, "?") : "");
  }
  return {};
}

/// Each element is one product, though the text adds them up; empty id: it does not.
Cause cause_of_single_product(const PuzzleAttempt& attempt, const PuzzleCase& c,
                              const PuzzleMatrix& m) {
  static const std::regex adds(R"(\b(\w+)(\[[^=]*\])?\s*(\+=|=\s*fma\(.*\b\1\b))");
  static const std::regex late(R"(\bfor\s*\(\s*\w+\s+(\w+)\s*=\s*([1-9]\d*)\s*;)");
  const Loop kernel = kernel_named(attempt.source, c.kernel);
  bool adds_up = false;
  for (int i = kernel.first; i <= kernel.last; ++i)
    adds_up = adds_up || std::regex_search(line_of(attempt.source, i), adds);
  if (m.looks_like != "one-product" || !adds_up || !m.advice.empty()) return {};
  for (int i = kernel.first; i <= kernel.last; ++i) {
    std::smatch match;
    const std::string line = line_of(attempt.source, i);
    if (std::regex_search(line, match, late))
      return cause("loop-too-short",
                   cat("each element holds its last product only: the loop in line ", i,
                       " begins with ", match[1].str(), " = ", match[2].str()),
                   "for k from 0 while k < the extent");
  }
  return cause("one-product", "each element holds its last product only",
               "does the sum begin again in each round, or does the loop leave the others out?");
}

/// The access with the most requests: "line 16, store to out: 32 sectors, where 4 would do".
std::string worst_access(const PuzzleCase& c) {
  const auto dearer = [](const PuzzleAccess& a, const PuzzleAccess& b) {
    return a.worst * std::max(b.ideal, 1.0) < b.worst * std::max(a.ideal, 1.0);
  };
  const auto worst = std::max_element(c.accesses.begin(), c.accesses.end(), dearer);
  if (worst == c.accesses.end() || worst->worst <= worst->ideal) return {};
  return cat("line ", worst->line, worst->is_store ? ", store to " : ", load from ", worst->tensor,
             ": ", worst->worst,
             worst->memory == "shared" ? " passes through the banks" : " sectors",
             " for one request, where ", worst->ideal, " would do");
}

Cause cause_of_goal(const PuzzleCase& c, const PuzzleGoal& goal) {
  const std::string numbers =
      cat(goal.what, ": ", goal.got, ", at most ", goal.limit, " is the goal");
  return cause("goal", numbers, goal.advice.empty() ? worst_access(c) : goal.advice);
}

/// An error of the compiler as a cause; without a known cause, the facts above are all.
Cause cause_of_error(const std::string& id, const CompileError& error) {
  if (!error.cause.empty())  // a reason equal to the message is shown above
    return cause("does-not-compile", error.why == error.message ? "" : error.why, error.advice);
  return cause("does-not-compile", {},
               error.line > 0
                   ? ""
                   : cat("'tessera puzzle reset ", id, "' begins again, and keeps what you have"));
}

/// There is no outcome. Outside of a kernel, a program can only print its error.
Cause cause_of_death(const PuzzleAttempt& attempt) {
  for (const auto& line : lines_of(attempt.printed))
    if (Cause out = cause_of_local_array(line); !out.id.empty()) return out;
  return cause(attempt.timed_out ? "endless" : "crash", attempt.end);
}

/// "static float sum = 0;" in a kernel; empty id: there is none.
Cause cause_of_static(const std::string& source) {
  static const std::regex declared(R"(^\s*static\s+(?!const)\w+\s+(\w+)\s*[={;])");
  int number = 0;
  for (const auto& each : lines_of(source)) {
    ++number;
    std::smatch match;
    const std::string line = without_comment(each);
    if (std::regex_search(line, match, declared))
      return cause("static", cat("line ", number, " declares ", match[1].str(),
                                 " static: that is one variable for all threads of all blocks"));
  }
  return {};
}

/// "C(row, col)", if the kernel stores there; "".
std::string place_of_store(const PuzzleAttempt& attempt, const PuzzleCase& c,
                           const PuzzleMatrix& m) {
  const Loop kernel = kernel_named(attempt.source, c.kernel);
  for (int i = kernel.first; i <= kernel.last; ++i)
    for (const char* indices : {"(row, col)", "(y, x)"})
      if (std::string place = cat(m.name, indices);
          stands_in(line_of(attempt.source, i), place + " ="))
        return place;
  return {};
}

Cause cause_of_numbers(const PuzzleAttempt& attempt, const PuzzleCase& c, const PuzzleMatrix& m) {
  if (Cause out = cause_of_static(attempt.source); !out.id.empty()) return out;
  Cause of_coverage = cause_of_coverage(attempt, c, m);
  if (m.sentence.empty() && !of_coverage.id.empty()) return of_coverage;
  if (Cause out = cause_of_single_product(attempt, c, m); !out.id.empty()) return out;
  if (m.sum && m.sentence.empty()) return cause_of_sum(attempt, c, m);
  if (stands_in(attempt.source, m.advice))  // the numbers agree for another reason
    return cause("not-all", m.sentence,
                 cat("'", m.advice,
                     "' is in your file already: so which thread stores, and which element?"));
  if (m.looks_like == "tile-transposed" && m.advice.empty() &&
      stands_in(attempt.source, "(y, i)") && stands_in(attempt.source, "(i, x)"))
    return cause(m.looks_like, m.sentence,
                 "(y, i) and (i, x) are read, as they should be: look at the lines that store the "
                 "tiles");
  if (m.looks_like == "same-tile-again" && m.advice.empty() && c.grid[2] > 1)
    return cause("only-the-first-tile",
                 cat("each of the ", c.grid[2], " blocks along z adds the same products"),
                 "which of the products a block adds follows from t.block.z");
  if (m.looks_like == "swapped-indices" && m.advice.empty())
    if (const std::string place = place_of_store(attempt, c, m); !place.empty())
      return cause(m.looks_like, m.sentence,
                   cat(place, " is the right place: exchange the indices of what is stored there"));
  if (m.looks_like == "swapped-indices" && m.advice.empty())
    return cause(m.looks_like, m.sentence,
                 cat("y counts rows and x counts columns: ", m.name, "(row, col)"));
  if (!m.looks_like.empty()) return cause(m.looks_like, m.sentence, m.advice);
  Cause of_places = cause_of_places(c, m);
  if (of_places.id != "all-wrong" && of_places.id != "not-all") return of_places;
  Cause overlap = cause_of_overlap(attempt, c);
  return overlap.id.empty() ? of_places : overlap;
}

}  // namespace

Cause cause_of_overlap(const PuzzleAttempt& attempt, const PuzzleCase& c) {
  static const std::regex one_by_one(R"(\bfor\s*\(.*;\s*(\+\+\s*\w+|\w+\s*\+\+)\s*\))"),
      sum(R"(^\s*(\w+)\s*\+\s*(\w+)\s*$)");
  for (const auto& t : c.coverage)
    for (int i = 1; !t.is_output && i <= static_cast<int>(lines_of(attempt.source).size()); ++i) {
      const std::string line = line_of(attempt.source, i);
      const auto store = line.find(" = ");
      if (store == std::string::npos || line.find("s.") > store) continue;
      for (const auto& index : indices_of(line, t.tensor)) {
        std::smatch match;
        if (!std::regex_match(index, match, sum)) continue;
        for (const std::size_t which : {1, 2}) {
          const std::string k = match[which], other = match[3 - which];
          const Loop loop = loop_over(attempt.source, i, k);
          const bool is_thread =
              comes_from(attempt.source, other, ".x") || comes_from(attempt.source, other, ".y");
          const std::string head = line_of(attempt.source, loop.first);
          if (loop.first == 0 || !is_thread || !std::regex_search(head, one_by_one)) continue;
          return cause(
              "overlapping-tiles",
              cat("in line ", i, " a tile of ", t.tensor, " begins at ", k,
                  ", and the loop in line ", loop.first, " moves ", k, " by 1 only"),
              cat(k, " moves by the size of a tile, or ", k, " times that size is in the index"));
        }
      }
    }
  return {};
}

const PuzzleCase* wrong_case(const PuzzleAttempt& attempt) {
  if (!attempt.outcome || attempt.outcome->cases.empty()) return nullptr;
  const PuzzleCase& last = attempt.outcome->cases.back();
  return last.is_right() ? nullptr : &last;
}

Cause cause_of(const PuzzleAttempt& attempt) {
  if (!attempt.errors.empty()) return cause_of_error(attempt.id, attempt.errors.front());
  if (!attempt.outcome) return cause_of_death(attempt);
  const PuzzleCase* const c = wrong_case(attempt);
  Cause slip = attempt.is_unfilled ? Cause{} : cause_of_slip(attempt, c);
  if (!slip.id.empty()) return slip;
  if (c == nullptr) return cause("spec", attempt.outcome->error);
  const bool is_kernel = c->block[0] > 0;
  const bool misses_goal =
      std::any_of(c->goals.begin(), c->goals.end(), [](const auto& g) { return !g.reached; });
  if (attempt.is_unfilled && !misses_goal) return cause("unfilled", "the file is as you got it");
  if (is_kernel && none_touched(*c) && fatal_of(*c) == nullptr &&
      cause_of_gates(attempt, *c).id.empty()) {
    Cause kept_away = cause_of_no_thread(attempt, *c);
    return kept_away.id.empty() ? cause_of_untouched(attempt, *c) : kept_away;
  }
  Cause found = cause_of_findings(attempt, *c);
  if (!found.id.empty()) return found;
  if (is_kernel && none_written(*c)) return cause("nothing-stored");
  for (const auto& m : c->outputs) {
    if (m.wrong == 0) continue;
    Cause no_value = m.sentence.empty() ? cause_of_no_value(attempt, *c) : Cause{};
    return no_value.id.empty() ? cause_of_numbers(attempt, *c, m) : no_value;
  }
  for (const auto& goal : c->goals)
    if (!goal.reached) return cause_of_goal(*c, goal);
  if (const auto* f = find_finding(*c, {"race"}, "global"))
    return told_by(*f, cause("written-again", f->problem));
  if (const auto* f = find_finding(*c, {"never-read"}))
    return told_by(*f, cause("part-not-read", cat(f->problem, "; the numbers fit by chance"),
                             cat("look at the index of ", f->tensor)));
  return cause("not-all");
}

}  // namespace tessera::course
