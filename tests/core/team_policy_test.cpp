// Which calls use workers, as tables: what was known, what happened, what follows.
#include "core/team_policy.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace tessera::team {
namespace {

constexpr std::int64_t kMs = 1'000'000;

TEST(Arrival, IsWorthACallOfSeveralTimesItsLength) {
  const struct {
    std::int64_t arrival_ns, expected_ns;
    bool pays;
  } table[] = {{60, 1079, false}, {60, 1080, true},     {500, 8999, false},
               {500, 9000, true}, {1000, 17999, false}, {1000, 18000, true}};
  for (const auto& [arrival_ns, expected_ns, pays] : table) {
    EXPECT_EQ((Arrival{arrival_ns}.pays(expected_ns)), pays) << arrival_ns << " " << expected_ns;
    EXPECT_FALSE(pays && Arrival::never_pays(expected_ns));
    EXPECT_TRUE(pays || !Arrival::always_pays(expected_ns));
  }
  EXPECT_TRUE(Arrival::never_pays(1079));
  EXPECT_FALSE(Arrival::never_pays(1080));
  EXPECT_FALSE(Arrival::always_pays(17999));
  EXPECT_TRUE(Arrival::always_pays(18000));
}

TEST(Arrival, ChangesByAQuarterAtMostAndKeepsItsBounds) {
  const struct {
    Arrival before;
    std::int64_t seen_ns;
    Arrival after;
  } table[] = {
      {{400, 1024}, 450, {450, 1024}},      // later than known: as patient as before
      {{400, 1024}, 100'000, {500, 1024}},  // one late worker says little
      {{400, 1024}, 400, {400, 256}},       // sooner or as soon: patience begins again
      {{400, 1024}, 310, {310, 256}},      {{400, 1024}, 1, {300, 256}},
      {{60, 256}, 1, {60, 256}},           {{1000, 256}, 100'000, {1000, 256}},
  };
  for (const auto& row : table)
    EXPECT_EQ(row.before.after(row.seen_ns), row.after) << row.before.ns << " " << row.seen_ns;
}

TEST(Arrival, IsForgottenLessAndLessOften) {
  Arrival arrival{900, 256};
  for (const int patience : {512, 1024, 2048, 4096, 8192, 16384, 16384}) {
    arrival = arrival.forgotten();
    EXPECT_EQ(arrival, (Arrival{60, patience}));
    arrival.ns = 900;
  }
}

TEST(Wakes, LargeWorkAtOnceAndSmallWorkAtTheThirdCallInQuickSuccession) {
  const struct {
    Requests before;
    std::int64_t now, expected_ns;
    bool has_workers, pays;
    Requests after;
  } table[] = {
      // the first call, the second soon after, the third
      {{0, 0, 0}, 10 * kMs, 20'000, true, false, {10 * kMs, 0, 1}},
      {{10 * kMs, 0, 1}, 10 * kMs + 100'000, 20'000, true, false, {10 * kMs + 100'000, 0, 2}},
      {{10 * kMs, 0, 2}, 10 * kMs + 100'000, 20'000, true, true, {10 * kMs + 100'000, 0, 3}},
      {{10 * kMs, 0, 3}, 10 * kMs + 100'000, 20'000, true, true, {10 * kMs + 100'000, 0, 3}},
      // too late: the count begins again; 300 us and four times the expected time are soon enough
      {{10 * kMs, 0, 2}, 10 * kMs + 380'001, 20'000, true, false, {10 * kMs + 380'001, 0, 1}},
      {{10 * kMs, 0, 2}, 10 * kMs + 380'000, 20'000, true, true, {10 * kMs + 380'000, 0, 3}},
      // large enough for a sleeper to be woken, not for a thread to be started
      {{0, 0, 0}, 10 * kMs, 100'000, true, true, {10 * kMs, 0, 0}},
      {{0, 0, 0}, 10 * kMs, 100'000, false, false, {10 * kMs, 0, 1}},
      {{0, 0, 0}, 10 * kMs, 99'999, true, false, {10 * kMs, 0, 1}},
      // workers woke in vain lately: they are left asleep, however many calls there are
      {{10 * kMs, 12 * kMs, 2}, 10 * kMs + 1, 20'000, true, false, {10 * kMs + 1, 12 * kMs, 2}},
      {{10 * kMs, 12 * kMs, 2}, 10 * kMs + 1, 200'000, true, false, {10 * kMs + 1, 12 * kMs, 2}},
      {{12 * kMs - 1, 12 * kMs, 2}, 12 * kMs, 20'000, true, true, {12 * kMs, 12 * kMs, 3}},
  };
  int row = 0;
  for (const auto& t : table) {
    const Wakes found = wakes(t.before, t.now, t.expected_ns, t.has_workers);
    EXPECT_EQ(found.pays, t.pays) << row;
    EXPECT_EQ(found.next, t.after) << row << ": " << found.next.following;
    ++row;
  }
  EXPECT_EQ(wake_after_idling(5 * kMs), 15 * kMs);
}

TEST(Limit, HalvesTheWorkersUntilTheEventIsRepaid) {
  const struct {
    Limit before;
    std::int64_t now, most, event_ns;
    Limit after;
  } table[] = {
      {{}, kMs, 4, 2 * kMs, {101 * kMs, 2 * kMs, 4}},
      // within a limit: the stricter of both
      {{101 * kMs, 2 * kMs, 4}, 50 * kMs, 2, kMs, {101 * kMs, 2 * kMs, 2}},
      {{101 * kMs, 2 * kMs, 2}, 50 * kMs, 4, 3 * kMs, {200 * kMs, 3 * kMs, 2}},
      // after it: a new one
      {{101 * kMs, 2 * kMs, 2}, 101 * kMs, 4, kMs, {151 * kMs, kMs, 4}},
      // one event costs 20 ms at most: more is no scheduler's delay
      {{}, 0, 0, 5000 * kMs, {1000 * kMs, 20 * kMs, 0}},
  };
  for (const auto& t : table) {
    const Limit found = t.before.after(t.now, t.most, t.event_ns);
    EXPECT_EQ(found, t.after) << found.until_ns << " " << found.cost_ns << " " << found.workers;
  }
}

TEST(Limit, LetsWorkPassThatSavesMoreThanAnEventCosts) {
  const Limit limit{101 * kMs, 2 * kMs, 1};
  EXPECT_TRUE(limit.concerns(4 * kMs));
  EXPECT_TRUE(limit.concerns(20'000));
  EXPECT_FALSE(limit.concerns(4 * kMs + 2));
  EXPECT_FALSE(Limit{}.concerns(20'000));
  EXPECT_TRUE(limit.holds(101 * kMs - 1));
  EXPECT_FALSE(limit.holds(101 * kMs));
}

TEST(Gain, IsHalfOfWhatExceedsAskingLessTheDelays) {
  const Arrival arrival{100};
  EXPECT_EQ(gained(0, arrival, 1800, 0), 0);
  EXPECT_EQ(gained(0, arrival, 1000, 0), 0);  // never a loss by being small
  EXPECT_EQ(gained(0, arrival, 101'800, 0), 50'000);
  EXPECT_EQ(gained(30'000, arrival, 101'800, 100'000), -20'000);
  EXPECT_EQ(kept_gain(-20'000), 0);
  EXPECT_EQ(kept_gain(900 * kMs), 200 * kMs);  // old gains do not pay for new delays
}

TEST(Displaced, IsALongCallThatNoStopExplains) {
  const struct {
    std::int64_t took_ns, expected_ns, displaced_ns;
  } table[] = {
      {4 * kMs, 500'000, 3'500'000},
      {4 * kMs, kMs, 0},   // three times over the expected time is not yet more
      {800'000, 1000, 0},  // shorter than workers stay awake
      {800'001, 1000, 799'001},
      {20 * kMs, 1000, 20 * kMs - 1000},
      {20 * kMs + 1000, 1000, 0},  // the process was stopped
  };
  for (const auto& [took_ns, expected_ns, displaced_ns] : table)
    EXPECT_EQ(displaced(took_ns, expected_ns), displaced_ns) << took_ns << " " << expected_ns;
}

}  // namespace
}  // namespace tessera::team
