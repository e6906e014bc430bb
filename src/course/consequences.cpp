// The rules by which a finding follows from another one: see consequences.hpp. A finding that only
// probably follows is shown: a separate mistake must never be hidden.
#include "consequences.hpp"

#include <algorithm>
#include <initializer_list>

#include "source.hpp"
#include "tessera/core/text.hpp"

namespace tessera::course {

namespace {

bool is_one_of(const PuzzleFinding& f, std::initializer_list<std::string_view> kinds) {
  return std::find(kinds.begin(), kinds.end(), f.kind) != kinds.end();
}
bool is_of_coverage(const PuzzleFinding& f) {
  return is_one_of(f, {"never-read", "never-written"});
}
bool is_of_barrier(const PuzzleFinding& f) {
  return is_one_of(f, {"diverged-barrier", "missing-barrier", "early-return"});
}
bool is_of_end(const PuzzleFinding& f) {
  return is_one_of(f, {"endless", "deadlock", "crash", "exception", "stack-overflow", "stuck"});
}
bool is_of_values(const PuzzleFinding& f) {
  return is_one_of(f, {"uninitialized-read", "stale-read"});
}
bool is_async(const PuzzleFinding& f) {
  return is_one_of(f, {"async-not-waited", "async-never-waited"});
}
bool is_race(const PuzzleFinding& f, std::string_view memory) {
  return f.kind == "race" && f.memory == memory;
}
bool is_at(const PuzzleFinding& f, int line) {
  return line > 0 && (f.line == line || f.other_line == line);
}
int first_of(const PuzzleFinding& f) { return std::min(f.line, f.other_line); }
int last_of(const PuzzleFinding& f) { return std::max(f.line, f.other_line); }

/// A thread outside one tensor is also outside the others that the line indexes alike, and
/// there collides with other threads.
bool follows_outside(const std::string& source, const PuzzleFinding& from, const PuzzleFinding& f) {
  if (f.is_outside()) {
    const std::string line = line_of(source, f.line);
    const auto index = indices_of(line, f.tensor);
    return f.line == from.line &&
           (f.tensor == from.tensor || (!index.empty() && index == indices_of(line, from.tensor)));
  }
  return (f.kind == "race" || is_of_values(f)) && f.memory == from.memory && is_at(f, from.line) &&
         (f.memory == "global" || f.tensor == from.tensor);
}

/// The missing barrier orders this, too; a read before it returns old or uninitialized data.
bool follows_race(const std::string& source, const PuzzleFinding& from, const PuzzleFinding& f) {
  const auto barrier = [&](const PuzzleFinding& each) {
    return barrier_between(source, first_of(each), last_of(each));
  };
  if (is_race(f, "shared"))
    return last_of(f) == last_of(from) && barrier(f) == barrier(from) && first_of(f) < last_of(f) &&
           first_of(from) < last_of(from);
  return is_of_values(f) && f.memory == "shared" && f.tensor == from.tensor &&
         (is_at(f, from.line) || is_at(f, from.other_line));
}

bool follows(const std::string& source, const PuzzleFinding& from, const PuzzleFinding& f) {
  if (is_of_coverage(f) && is_of_coverage(from))
    return is_at(f, from.line) && f.count == from.count;  // a thread that is kept away does neither
  if (is_of_coverage(f)) {
    const bool misplaces = from.is_outside() || is_race(from, "global");
    return is_of_end(from) || is_of_barrier(from) ||
           (misplaces && (f.tensor == from.tensor || is_at(f, from.line)));
  }
  if (from.is_outside()) return follows_outside(source, from, f);
  if (is_of_barrier(from))
    return is_race(f, "shared") && first_of(f) < from.line && from.line < last_of(f);
  if (is_race(from, "shared")) return follows_race(source, from, f);
  if (is_of_values(from)) return is_of_values(f) && f.line == from.line && f.tensor == from.tensor;
  return is_async(from) && is_async(f) && (is_at(f, from.line) || is_at(f, from.other_line));
}

}  // namespace

PuzzleFindings findings_of(const PuzzleAttempt& attempt, const PuzzleCase& c, const Cause& cause) {
  PuzzleFindings out;
  const bool lacks_products = std::any_of(c.outputs.begin(), c.outputs.end(), [&](const auto& m) {
    return m.sum && m.looks_like == cause.id;
  });
  const auto is_explained = [&](const PuzzleFinding& f) {
    const bool is_untouched =
        cause.id == "unfilled" || (cause.id == "nothing-stored" && f.kind == "never-written");
    return ((lacks_products || is_untouched) && is_of_coverage(f)) ||
           std::any_of(out.own.begin(), out.own.end(), [&](const PuzzleFinding* from) {
             return follows(attempt.source, *from, f);
           });
  };
  if (cause.finding != nullptr) out.own.push_back(cause.finding);
  for (const auto& f : c.findings)
    if (f.counts() && &f != cause.finding)
      (is_explained(f) ? out.following : out.own).push_back(&f);
  return out;
}

std::string following_text(const PuzzleFindings& findings) {
  const std::size_t count = findings.following.size();
  if (count == 0) return {};
  const std::string what = cat(count, findings.own.empty() ? "" : " more",
                               count == 1 ? " finding follows" : " findings follow");
  return cat(what, findings.own.size() > 1 ? " from these" : " from it");
}

}  // namespace tessera::course
