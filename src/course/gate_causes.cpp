// What the checker finds of gates, bulk copies and the units of a warpgroup, for the author of the
// line. Its problem and its advice are in those words already; here each kind gets its title, and
// the advice that a line of the file decides.
#include <algorithm>

#include "answer.hpp"
#include "cause_parts.hpp"
#include "source.hpp"
#include "tessera/core/text.hpp"

namespace tessera::course {

namespace {

struct CauseOfKind {
  std::string_view kind, cause;
};
/// Each before those that may follow from it: a tile that is read too early is freed too early.
constexpr CauseOfKind kOfGates[] = {
    {"gate-phase", "wrong-phase"},
    {"bulk-not-awaited", "not-arrived"},
    {"stage-reused", "freed-too-early"},
    {"gate-bytes", "gate-count"},
    {"gate-arrivals", "gate-count"},
    {"missing-async-fence", "forgotten-fence"},
    {"mma-unordered", "units-apart"},
    {"mma-not-awaited", "product-not-awaited"},
    {"source-overwritten", "store-not-awaited"},
    {"store-never-awaited", "store-not-awaited"},
    {"cluster-exit", "cluster-apart"},
};
/// Of a wait in vain, which a mistake elsewhere may cause.
constexpr CauseOfKind kInVain[] = {{"gate-phase", "wrong-phase"}, {"stuck", "waits-for-ever"}};

bool is_in_vain(const PuzzleFinding& f) {
  return f.problem.find("a wait that no thread ends") != std::string::npos;
}

/// A copy over one that no reader has released: who loads runs ahead, whatever is read of it.
bool runs_ahead(const PuzzleCase& c) {
  return std::any_of(c.findings.begin(), c.findings.end(), [](const PuzzleFinding& f) {
    return f.kind == "stage-reused" &&
           f.problem.find("starts a bulk copy into it") != std::string::npos;
  });
}

/// For a copy over what is still read: the arrival that does not come after the last read.
std::string advice_of_reuse(const PuzzleAttempt& attempt, const PuzzleFinding& f) {
  const int all = 1 << 20, copy = f.line, read = f.other_line;
  if (line_with(attempt.source, ".free[", 1, copy) == 0)
    return "wait(t, s.free[turn.stage], turn.before()) before the copy";
  const int arrives = line_with(attempt.source, "arrive(", 1, all);
  if (arrives > read && line_of(attempt.source, read).find("mma(") != std::string::npos &&
      line_with(attempt.source, "wait_mma<0>", read, arrives) == 0)
    return cat("wait_mma<0>(t) belongs between the product in line ", read, " and arrive in line ",
               arrives);
  if (arrives == 0 || read == 0) return {};
  return cat("arrive in line ", arrives, " comes after what line ", read, " reads or starts");
}

Cause cause_of_wait_in_vain(const PuzzleAttempt& attempt, const PuzzleFinding& f,
                            std::string_view id) {
  for (const int line : lines_of_finding(attempt, f)) {
    const std::string text = line_of(attempt.source, line);
    if (text.find("barrier()") != std::string::npos)
      return cause("barrier-in-guard",
                   cat("the barrier in line ", line, " is passed by some threads only"),
                   "gates order those who load and those who read: no barrier in between");
    if (text.find(".free[") != std::string::npos && text.find("turn.phase") != std::string::npos)
      return cause(id, f.problem,
                   "turn.before() to wait until a stage is free: at a gate that was just opened "
                   "that phase counts as over");
  }
  return cause(id, f.problem, f.hint);
}

}  // namespace

Cause cause_of_gates(const PuzzleAttempt& attempt, const PuzzleCase& c) {
  for (const CauseOfKind& each : kOfGates) {
    const PuzzleFinding* const f = find_finding(c, {each.kind});
    if (f == nullptr || (each.kind == "gate-phase" && is_in_vain(*f))) continue;
    if (each.kind == "bulk-not-awaited" && runs_ahead(c)) continue;
    const std::string advice = each.kind == "stage-reused" ? advice_of_reuse(attempt, *f) : "";
    return told_by(*f, cause(each.cause, f->problem, advice.empty() ? f->hint : advice));
  }
  for (const CauseOfKind& each : kInVain)
    if (const PuzzleFinding* const f = find_finding(c, {each.kind}))
      return told_by(*f, cause_of_wait_in_vain(attempt, *f, each.cause));
  return {};
}

}  // namespace tessera::course
