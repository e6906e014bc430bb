// Which calls use workers, and how many: pure functions of a call's expected time and of what
// earlier calls have shown. team.cpp keeps what they return, and posts, wakes and joins.
#pragma once

#include <algorithm>
#include <cstdint>

#include "long_wait.hpp"

namespace tessera::team {

// Times are in ns; the expected time of a call is that of one thread.

/// Waking a sleeper costs the caller some time, and the sleeper takes as long again to arrive;
/// starting a thread costs more. Measured: bench/results/cpu/tuning.md.
inline constexpr std::int64_t kWorthWaking = 100'000, kWorthStarting = 250'000;
inline constexpr std::int64_t kSpin = 200'000;  ///< that an idle worker stays awake
/// Between calls that request workers, added to four times their expected time: some processors
/// do a quarter of the work per cycle. Measured: bench/results/cpu/tuning.md.
inline constexpr std::int64_t kCloselyFollowing = 300'000;
inline constexpr std::int64_t kCallsToWake = 3;
/// An event's cost times this is how long it changes what callers do, so that such events cost
/// some 2 % of the time.
inline constexpr std::int64_t kRepaid = 50;

/// How soon an awake worker joins after work is posted. Transferring its operands and results
/// between caches costs the caller several times that. Measured: bench/results/cpu/tuning.md.
struct Arrival {
  static constexpr std::int64_t kWorthCalling = 18;
  static constexpr std::int64_t kLeast = 60, kMost = 1000;
  static constexpr std::int64_t kLeastPatience = 256, kMostPatience = 1 << 14;

  std::int64_t ns = kLeast;
  /// After this many calls of one thread that did not use workers, `ns` is forgotten, because
  /// threads move between cores. Doubles each time that this gains nothing.
  std::int64_t patience = kLeastPatience;

  /// Is there enough work to use workers that are awake?
  constexpr bool pays(std::int64_t expected_ns) const { return expected_ns >= kWorthCalling * ns; }
  /// No worker ever joins soon enough for such a call.
  static constexpr bool never_pays(std::int64_t expected_ns) {
    return expected_ns < kWorthCalling * kLeast;
  }
  /// Such a call pays for the slowest worker, and shows nothing new.
  static constexpr bool always_pays(std::int64_t expected_ns) {
    return expected_ns >= kWorthCalling * kMost;
  }
  constexpr Arrival forgotten() const { return {kLeast, std::min(2 * patience, kMostPatience)}; }
  /// Changes by at most a quarter: one delayed worker says little.
  constexpr Arrival after(std::int64_t seen_ns) const {
    const std::int64_t next = std::clamp(seen_ns, ns * 3 / 4, ns * 5 / 4);
    return {std::clamp(next, kLeast, kMost), seen_ns <= ns ? kLeastPatience : patience};
  }
  friend constexpr bool operator==(const Arrival&, const Arrival&) = default;
};

/// Calls that found too few workers awake.
struct Requests {
  std::int64_t last_ns = 0;
  std::int64_t wake_after_ns = 0;  ///< no worker is woken for small work before
  std::int64_t following = 0;      ///< in quick succession
  friend constexpr bool operator==(const Requests&, const Requests&) = default;
};

struct Wakes {
  bool pays;      ///< starting or waking workers for this call
  Requests next;  ///< with this call
};

/// Does waking pay for this call? From kWorthStarting on it always does.
constexpr Wakes wakes(const Requests& known, std::int64_t now, std::int64_t expected_ns,
                      bool has_workers) {
  const bool is_apart = now - known.last_ns > kCloselyFollowing + 4 * expected_ns;
  Requests next = known;
  next.last_ns = now;
  if (is_apart) next.following = 0;
  if (now < known.wake_after_ns) return {false, next};
  if (expected_ns >= kWorthWaking && has_workers) return {true, next};
  next.following = std::min(next.following + 1, kCallsToWake);
  return {next.following == kCallsToWake, next};
}

/// Workers that woke and found no work are not woken for small work until then.
constexpr std::int64_t wake_after_idling(std::int64_t now) { return now + kRepaid * kSpin; }

/// A worker that waits for its core while it holds a work item, because another process has the
/// core, holds its caller up for milliseconds. Where that costs more than threading has gained
/// lately, callers use half as many workers, in the end none, for a while; but not for work where
/// threading saves more than an event costs.
struct Limit {
  static constexpr std::int64_t kMostCost = kStoodStill;

  std::int64_t until_ns = 0;  ///< 0: no limit
  std::int64_t cost_ns = 0;   ///< of the event that set it
  std::int64_t workers = 0;

  constexpr bool concerns(std::int64_t expected_ns) const {
    return until_ns != 0 && expected_ns / 2 <= cost_ns;
  }
  constexpr bool holds(std::int64_t now) const { return now < until_ns; }
  /// After an event of a call with twice as many workers: the stricter of both while this holds.
  constexpr Limit after(std::int64_t now, std::int64_t most, std::int64_t event_ns) const {
    const std::int64_t cost = std::min(event_ns, kMostCost), until = now + kRepaid * cost;
    if (!holds(now)) return {until, cost, most};
    return {std::max(until_ns, until), std::max(cost_ns, cost), std::min(workers, most)};
  }
  friend constexpr bool operator==(const Limit&, const Limit&) = default;
};

inline constexpr std::int64_t kMostGained = 200'000'000;  ///< so that old gains do not count

/// What threading gained lately, less what workers cost, after a call that workers joined; below 0
/// it did not pay. Work at the threshold gains next to nothing; far larger work at least half.
constexpr std::int64_t gained(std::int64_t before_ns, const Arrival& arrival,
                              std::int64_t expected_ns, std::int64_t held_up_ns) {
  const std::int64_t asking = Arrival::kWorthCalling * arrival.ns;
  return before_ns + std::max<std::int64_t>(0, expected_ns - asking) / 2 - held_up_ns;
}

constexpr std::int64_t kept_gain(std::int64_t gained_ns) {
  return std::clamp<std::int64_t>(gained_ns, 0, kMostGained);
}

/// How long a call was preempted because workers displaced another process onto its core, where a
/// worker went to sleep before the call ended. 0: it was not, or the whole machine stood still.
constexpr std::int64_t displaced(std::int64_t took_ns, std::int64_t expected_ns) {
  const std::int64_t more = took_ns - expected_ns;
  return more > 3 * expected_ns && took_ns > 4 * kSpin && more < kStoodStill ? more : 0;
}

}  // namespace tessera::team
