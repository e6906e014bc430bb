// Calls of a team that tests make, and the worker that they wait for.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tessera/core/team.hpp"
#include "tessera/core/text.hpp"

namespace tessera::testing {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

inline constexpr std::int64_t kLong = 1'000'000'000;  // ns: worth waking everybody

/// Hands out `pieces` to a team; "" if each was done exactly once, by workers with different
/// numbers below `threads`.
inline std::string run_pieces(int threads, int pieces, std::int64_t expected_ns = kLong,
                              milliseconds each = milliseconds(0)) {
  std::vector<std::atomic<int>> done(static_cast<std::size_t>(pieces));
  std::vector<std::atomic<int>> workers(static_cast<std::size_t>(threads));
  std::atomic<int> next{0}, inside{0}, strangers{0};
  run_team(threads, expected_ns, [&](int worker) {
    inside.fetch_add(1);
    if (worker < 0 || worker >= threads) strangers.fetch_add(1);
    else workers[static_cast<std::size_t>(worker)].fetch_add(1);
    for (int i; (i = next.fetch_add(1)) < pieces;) {
      if (each.count() > 0) std::this_thread::sleep_for(each);
      done[static_cast<std::size_t>(i)].fetch_add(1);
    }
    inside.fetch_sub(1);
  });
  if (inside.load() != 0) return cat(inside.load(), " still inside after the call");
  if (strangers.load() != 0) return "a worker's number is out of range";
  for (const auto& worker : workers)
    if (worker.load() > 1) return "two workers have one number";
  for (const auto& piece : done)
    if (piece.load() != 1) return cat("a piece was done ", piece.load(), " times");
  return "";
}

/// Calls until a worker has come, for at most ten seconds: "" or what went wrong.
inline std::string get_a_worker() {
  const auto deadline = Clock::now() + std::chrono::seconds(10);
  for (std::atomic<bool> came{false}; !came.load();) {
    if (Clock::now() > deadline) return "no worker came in ten seconds";
    run_team(2, kLong, [&](int worker) {
      if (worker != 0) came = true;
      else
        for (int i = 0; i < 100 && !came.load(); ++i) std::this_thread::sleep_for(milliseconds(1));
    });
  }
  return "";
}

}  // namespace tessera::testing
