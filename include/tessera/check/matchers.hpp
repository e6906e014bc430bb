// Matchers of GoogleTest for a kernel's report, so that tests of a kernel's results can also test
// its races and costs: EXPECT_THAT(check::check(...), check::IsClean()).
//
// Needs GoogleMock, which this project does not install.
#pragma once

#include <gmock/gmock.h>

#include <string>

#include "tessera/check/format.hpp"

namespace tessera::check {

namespace detail {

inline std::string findings_of(const Report& report, bool (*wanted)(Kind)) {
  std::string out;
  for (const auto& f : report.findings) {
    if (!wanted(f.kind) || f.severity == Severity::note) continue;
    out += cat(out.empty() ? "" : "; ", name(f.kind), " at ", f.location.file, ":", f.location.line,
               ": ", f.problem);
  }
  return out;
}

/// `transfers` per request of the worst source line; "" where it is at most `most`.
inline std::string worst_line(const Report& report, std::int64_t Counters::*requests,
                              std::int64_t Counters::*transfers, double most) {
  std::string out;
  for (const auto& line : report.by_line) {
    const auto count = static_cast<double>(line.counters.*requests);
    const auto moved = static_cast<double>(line.counters.*transfers);
    if (count == 0 || moved <= most * count) continue;
    most = moved / count;
    out = cat(line.location.file, ":", line.location.line, " has ", most, " for each request");
  }
  return out;
}

}  // namespace detail

/// No errors and no warnings.
MATCHER(IsClean, negation ? "has findings" : "is clean") {
  *result_listener << summary_line(arg) << ": "
                   << detail::findings_of(arg, [](Kind) { return true; });
  return arg.summary.clean;
}

MATCHER(HasNoRaces, negation ? "has races" : "has no races") {
  const std::string found = detail::findings_of(arg, [](Kind kind) { return kind == Kind::race; });
  *result_listener << found;
  return found.empty();
}

/// Every access to shared memory takes as many passes through the banks as it needs without
/// conflicts.
MATCHER(HasNoBankConflicts, negation ? "has bank conflicts" : "has no bank conflicts") {
  for (const auto& line : arg.by_line) {
    const Counters& c = line.counters;
    const std::int64_t extra = c.shared_load_wavefronts - c.shared_load_wavefronts_ideal +
                               c.shared_store_wavefronts - c.shared_store_wavefronts_ideal;
    if (extra <= 0) continue;
    *result_listener << cat(extra, " more wavefronts than needed at ", line.location.file, ":",
                            line.location.line);
    return false;
  }
  return true;
}

/// No line's loads from global memory touch more sectors for each request than this, on average.
MATCHER_P(HasSectorsPerRequest, most,
          cat(negation ? "loads more than " : "loads at most ", most,
              " sectors with each request")) {
  const std::string found = detail::worst_line(arg, &Counters::global_load_requests,
                                               &Counters::global_load_sectors, most);
  *result_listener << found;
  return found.empty();
}

}  // namespace tessera::check
