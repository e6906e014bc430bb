// The matchers for reports: what they accept, what they refuse, and what they say then.
#include "tessera/check/matchers.hpp"

#include <gtest/gtest.h>

namespace tessera::check {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

template <class Matcher>
std::string said(const Report& report, const Matcher& matcher) {
  ::testing::StringMatchResultListener listener;
  ::testing::ExplainMatchResult(matcher, report, &listener);
  return listener.str();
}

Report with(const Counters& counters) {
  Report out;
  out.by_line.push_back({{"kernel.hpp", 12, 0}, counters});
  return out;
}

TEST(Matchers, ACleanReportPassesAll) {
  const Report report = with({.global_load_requests = 10,
                              .global_load_sectors = 40,
                              .shared_load_requests = 5,
                              .shared_load_wavefronts = 5,
                              .shared_load_wavefronts_ideal = 5});
  EXPECT_THAT(report, IsClean());
  EXPECT_THAT(report, HasNoRaces());
  EXPECT_THAT(report, HasNoBankConflicts());
  EXPECT_THAT(report, HasSectorsPerRequest(4));
  EXPECT_THAT(report, Not(HasSectorsPerRequest(3)));
}

TEST(Matchers, ARaceIsNamedWithItsLineUnlessItIsANote) {
  Report report;
  Finding race;
  race.location = {"kernel.hpp", 7, 3};
  race.problem = "two threads write";
  report.findings = {race};
  report.summary.clean = false;
  EXPECT_THAT(report, Not(IsClean()));
  EXPECT_THAT(report, Not(HasNoRaces()));
  EXPECT_THAT(said(report, HasNoRaces()), HasSubstr("race at kernel.hpp:7: two threads write"));
  report.findings[0].severity = Severity::note;
  EXPECT_THAT(report, HasNoRaces());
  report.findings[0].severity = Severity::error;
  report.findings[0].kind = Kind::misaligned;
  EXPECT_THAT(report, HasNoRaces());
}

TEST(Matchers, CostsNameTheLine) {
  const Report report = with({.global_load_requests = 2,
                              .global_load_sectors = 64,
                              .shared_store_requests = 1,
                              .shared_store_wavefronts = 8,
                              .shared_store_wavefronts_ideal = 1});
  EXPECT_THAT(report, Not(HasNoBankConflicts()));
  EXPECT_THAT(said(report, HasNoBankConflicts()),
              HasSubstr("7 more wavefronts than needed at kernel.hpp:12"));
  EXPECT_THAT(said(report, HasSectorsPerRequest(4)), HasSubstr("kernel.hpp:12 has 32"));
}

}  // namespace
}  // namespace tessera::check
