// Checks a product kernel on many shapes: the list of cases, and the result of each. Any function
// that checks one case fits, for a kernel of the ladder, a file, or a test:
//
//   const auto all = check::sweep_cases({.m = 16, .n = 16, .k = 16});
//   const check::Sweep swept = check::sweep(all, 60, [&](const check::SweepCase& one, double left)
//   {
//     check::Options options{.order = one.order, .time_limit_s = left};
//     return check::check_product<Mine, float>(options, one.problem());
//   });
//   EXPECT_EQ(swept.smallest_failing(), nullptr);
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tessera/check/product.hpp"
#include "tessera/check/report.hpp"

namespace tessera::check {

/// One run of a sweep.
struct SweepCase {
  index_t m = 0, n = 0, k = 0;
  ProductStrides strides = ProductStrides::rows;
  ThreadOrder order = ThreadOrder::forward;

  ProductProblem problem(double beta = 0) const { return {m, n, k, beta, strides}; }
  bool operator==(const SweepCase&) const = default;
};
/// "m=1 n=15 k=16 strides=rows order=forward"
std::string to_string(const SweepCase& one);

/// The extents around which shapes are chosen, each at least 1.
struct SweepTile {
  index_t m = 16, n = 16, k = 16;
  /// Of a kernel with a ring of stages: the K of one turn; 0: it has none.
  index_t turn = 0;
  ProductStrides strides = ProductStrides::rows;  ///< of the shapes around the tile
  bool is_async = false;                          ///< runs the order late, too
};
/// The extents that a kernel takes: any other is 1 in every shape.
struct SweepExtents {
  bool m = true, n = true, k = true;
};

/// The smallest first: every pair of extents from 1, tile - 1, tile, tile + 1, 2 tile + 1 and a
/// prime for each two of m, n and k (with a ring: m and n of at most two tiles, and k of 1,
/// tile + 1, less than a turn, a turn, turn + 1 and 2 turns + 1); no rows, no columns, no k; one
/// long side; two shapes in all other strides, of a kernel that takes all three. Each in every
/// order of the threads.
std::vector<SweepCase> sweep_cases(const SweepTile& tile, const SweepExtents& taken = {});

/// The result of a case.
struct SweptCase {
  enum class Status {
    clean,
    findings,
    unchecked,  ///< it could not be checked, or not completely
    refused,    ///< the kernel does not take this shape
    not_run     ///< the time limit was reached
  };
  SweepCase which;
  Status status = Status::not_run;
  std::string why;  ///< of a case that was not checked
  Report report;    ///< of a case that was
};
std::string_view name(SweptCase::Status status);

struct Sweep {
  std::vector<SweptCase> cases;  ///< in the order in which they were given
  bool timed_out = false;

  std::int64_t count(SweptCase::Status status) const;
  /// The first with an error or a warning; null: there is none.
  const SweptCase* smallest_failing() const;
  /// Cases that another kernel ran than the requested one.
  std::int64_t count_of_others() const;
  /// As of one report: 1 findings, 4 not all could be checked, else 0.
  int exit_code() const;
  /// All findings, each once, with the case that showed it first.
  Report merged() const;
  /// "clean: 159 cases", "NOT clean: 12 of 159 cases fail".
  std::string summary_line() const;
};

/// Checks one case, with a time limit. What it throws as Error(argument) is a shape that the
/// kernel does not take, as Error(unavailable) one that could not be checked.
using CheckCase = std::function<Report(const SweepCase& one, double seconds_left)>;

/// Runs the cases one after another until the time is over; 0: no limit.
Sweep sweep(std::span<const SweepCase> cases, double time_limit_s, const CheckCase& check_case);

}  // namespace tessera::check
