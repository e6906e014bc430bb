// Merges findings with one cause: see causes.hpp.
#include "causes.hpp"

#include <algorithm>
#include <utility>

namespace tessera::check {

namespace {

bool is_same_line(const Location& a, const Location& b) {
  return a.line == b.line && a.file == b.file;
}

/// The same two source positions; of races, the same two lines.
bool is_same_pair(const Finding& a, const Finding& b) {
  if (a.kind != Kind::race) return a.location == b.location && a.other == b.other;
  return is_same_line(a.location, b.location) && is_same_line(a.other, b.other);
}

/// An access to a copy before the wait for it also races with that access.
bool follows(const Finding& race, const Location& access, const Location& copy) {
  return (is_same_line(race.location, access) && is_same_line(race.other, copy)) ||
         (is_same_line(race.location, copy) && is_same_line(race.other, access));
}

/// Something is in flight when the block ends; if an access meets it before, that is the finding.
bool is_left_at_the_end(const Finding& f) {
  return f.kind == Kind::async_never_waited ||
         (f.kind == Kind::mma_not_awaited && f.other.line == 0);
}
bool is_unawaited(const Finding& f) {
  return f.kind == Kind::async_not_waited || f.kind == Kind::bulk_not_awaited ||
         f.kind == Kind::gate_phase || f.kind == Kind::mma_not_awaited;
}

bool is_one_cause(const Finding& first, const Finding& other) {
  if (first.memory != Memory::shared || other.memory != Memory::shared) return false;
  if (first.kind == Kind::async_not_waited && other.kind == Kind::race)
    return follows(other, first.location, first.other) ||
           std::any_of(first.also.begin(), first.also.end(),
                       [&](const Also& also) { return follows(other, also.location, also.other); });
  if (first.kind != other.kind) return false;
  if (is_same_pair(first, other)) return true;
  // One wait covers the copies of all tiles.
  return first.kind == Kind::async_not_waited && is_same_line(first.location, other.location);
}

}  // namespace

void merge_causes(Report& report) {
  std::vector<Finding> kept;
  const auto is_met_before = [&](const Finding& end) {
    return is_left_at_the_end(end) &&
           std::any_of(report.findings.begin(), report.findings.end(), [&](const Finding& each) {
             return is_unawaited(each) && is_same_line(each.other, end.location);
           });
  };
  report.summary.errors -= static_cast<std::int64_t>(std::erase_if(report.findings, is_met_before));
  for (Finding& finding : report.findings) {
    const auto cause = std::find_if(kept.begin(), kept.end(), [&](const Finding& first) {
      return is_one_cause(first, finding);
    });
    if (cause == kept.end()) {
      kept.push_back(std::move(finding));
      continue;
    }
    --(finding.severity == Severity::error     ? report.summary.errors
       : finding.severity == Severity::warning ? report.summary.warnings
                                               : report.summary.notes);
    if (finding.kind != cause->kind) continue;
    cause->count += finding.count;
    const Also also{finding.tensor, finding.location, finding.other};
    const bool is_known =
        (finding.tensor == cause->tensor && is_same_pair(finding, *cause)) ||
        std::any_of(cause->also.begin(), cause->also.end(), [&](const Also& each) {
          return each.tensor == also.tensor && each.location == also.location &&
                 each.other == also.other;
        });
    if (!is_known) cause->also.push_back(also);
  }
  report.findings = std::move(kept);
}

}  // namespace tessera::check
