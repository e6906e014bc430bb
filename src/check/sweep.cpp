// Shapes and their results: see check/sweep.hpp.
#include "tessera/check/sweep.hpp"

#include <algorithm>
#include <chrono>

#include "merge/reports.hpp"
#include "tessera/check/format.hpp"
#include "tessera/core/text.hpp"
#include "units.hpp"

namespace tessera::check {

namespace {

using Status = SweptCase::Status;

constexpr index_t kLongSide = 1021;  // a prime, and many tiles

index_t prime_after(index_t n) {
  for (index_t p = n + 1;; ++p) {
    bool is_prime = p > 1;
    for (index_t d = 2; d * d <= p && is_prime; ++d) is_prime = p % d != 0;
    if (is_prime) return p;
  }
}

/// The extents of one dimension, the smallest first. Of a kernel with a ring at most two tiles:
/// they are large, and its blocks go from tile to tile.
constexpr std::size_t kLevels = 6;
std::array<index_t, kLevels> levels(index_t tile, bool has_ring) {
  std::array<index_t, kLevels> out = {1,        tile - 1,     tile,
                                      tile + 1, 2 * tile + 1, prime_after(2 * tile + 1)};
  if (has_ring) out = {1, 5, tile - 1, tile, tile + 1, prime_after(tile + 1)};
  for (index_t& each : out) each = std::max<index_t>(each, 1);
  return out;
}

/// The same of k, with the turns of a ring of stages.
std::array<index_t, kLevels> depths(const SweepTile& tile) {
  if (tile.turn == 0) return levels(tile.k, false);
  return {1,         tile.k + 1,    std::max<index_t>(tile.turn - tile.k, 1),
          tile.turn, tile.turn + 1, 2 * tile.turn + 1};
}

void add_shapes(std::vector<SweepCase>& out, const SweepTile& tile, const SweepExtents& taken) {
  const auto add = [&](index_t m, index_t n, index_t k) {
    const SweepCase next{
        .m = taken.m ? m : 1, .n = taken.n ? n : 1, .k = taken.k ? k : 1, .strides = tile.strides};
    if (std::find(out.begin(), out.end(), next) == out.end()) out.push_back(next);
  };
  const bool has_ring = tile.turn > 0;
  const auto ms = levels(tile.m, has_ring), ns = levels(tile.n, has_ring), ks = depths(tile);
  // A Latin square: each pair of the three extents meets in every combination.
  for (std::size_t i = 0; i < kLevels; ++i)
    for (std::size_t j = 0; j < kLevels; ++j) add(ms[i], ns[j], ks[(i + j) % kLevels]);
  add(0, 0, 0);
  add(0, tile.n + 1, tile.k + 1);
  add(tile.m + 1, 0, tile.k + 1);
  add(tile.m + 1, tile.n + 1, 0);
  add(kLongSide, 3, 5);
  add(3, kLongSide, 5);
  add(3, 5, kLongSide);
}

void add_strides(std::vector<SweepCase>& out, const SweepTile& tile) {
  for (std::size_t i = 0; i < kProductStridesNames.size(); ++i) {
    const auto strides = static_cast<ProductStrides>(i);
    if (strides == tile.strides) continue;
    const index_t two = tile.turn > 0 ? tile.n : 2 * tile.n;
    out.push_back({.m = tile.m + 1, .n = two + 1, .k = tile.k + 1, .strides = strides});
    out.push_back({.m = 2 * tile.m, .n = tile.n, .k = 2 * tile.k, .strides = strides});
  }
}

/// By the number of elements of A, B and C, then by the work.
auto size_of(const SweepCase& one) {
  return std::tuple(one.m * one.k + one.k * one.n + one.m * one.n, one.m * one.n * one.k, one.m,
                    one.n, one.k, one.strides);
}

Status status_of(const Report& report) {
  const int code = exit_code(report.summary);
  return code == 0 ? Status::clean : code == 1 ? Status::findings : Status::unchecked;
}

SweptCase run_case(const SweepCase& one, double seconds_left, const CheckCase& check_case) {
  SweptCase out{.which = one};
  try {
    out.report = check_case(one, seconds_left);
    out.status = status_of(out.report);
    out.why = out.report.summary.incomplete;
  } catch (const Error& error) {
    if (error.category() != Category::argument && error.category() != Category::unavailable) throw;
    out.status = error.category() == Category::argument ? Status::refused : Status::unchecked;
    out.why = error.what();
  }
  return out;
}

}  // namespace

std::string to_string(const SweepCase& one) {
  return cat("m=", one.m, " n=", one.n, " k=", one.k, " strides=", name(one.strides),
             " order=", name(one.order));
}

std::string_view name(Status status) {
  constexpr std::array<std::string_view, 5> kNames = {"clean", "findings", "unchecked", "refused",
                                                      "not-run"};
  return kNames[static_cast<std::size_t>(status)];
}

std::vector<SweepCase> sweep_cases(const SweepTile& tile, const SweepExtents& taken) {
  std::vector<SweepCase> shapes, out;
  add_shapes(shapes, tile, taken);
  if (taken.m && taken.n && taken.k) add_strides(shapes, tile);
  std::stable_sort(shapes.begin(), shapes.end(),
                   [](const auto& a, const auto& b) { return size_of(a) < size_of(b); });
  std::vector<ThreadOrder> orders = {ThreadOrder::forward, ThreadOrder::backward,
                                     ThreadOrder::shuffled};
  if (tile.is_async) orders.push_back(ThreadOrder::late);
  for (const SweepCase& shape : shapes) {
    for (const auto order : orders) {
      out.push_back(shape);
      out.back().order = order;
    }
  }
  return out;
}

std::int64_t Sweep::count(Status status) const {
  return std::count_if(cases.begin(), cases.end(),
                       [&](const SweptCase& each) { return each.status == status; });
}

std::int64_t Sweep::count_of_others() const {
  return std::count_if(cases.begin(), cases.end(), [](const SweptCase& each) {
    const Report& r = each.report;  // of the kernel itself, a remark begins with its name
    return !r.remark.empty() && !r.remark.starts_with(r.kernel + ":");
  });
}

const SweptCase* Sweep::smallest_failing() const {
  const auto at = std::find_if(cases.begin(), cases.end(), [](const SweptCase& each) {
    return each.status == Status::findings;
  });
  return at == cases.end() ? nullptr : &*at;
}

int Sweep::exit_code() const {
  if (smallest_failing() != nullptr) return 1;
  const bool all = count(Status::unchecked) + count(Status::not_run) == 0;
  return all && count(Status::clean) > 0 ? 0 : 4;
}

Report Sweep::merged() const {
  Report out;
  bool is_first = true;
  for (const SweptCase& each : cases) {
    if (each.status != Status::clean && each.status != Status::findings) continue;
    Report next = each.report;
    if (is_first || volume(out.grid) == 0)
      out.kernel = next.kernel;  // a program without launch has another
    if (is_first) {
      out.source = next.source;
      out.unused_suppressions = next.unused_suppressions;
    }
    is_first = false;
    std::erase_if(out.unused_suppressions, [&](const std::string& unused) {  // used here
      const auto& still = next.unused_suppressions;
      return std::find(still.begin(), still.end(), unused) == still.end();
    });
    for (Finding& f : next.findings) f.problem += cat(", with ", to_string(each.which));
    merge_report(out, std::move(next));
  }
  out.launches.clear();  // one kernel
  out.problem = "a sweep: " + summary_line();
  if (exit_code() == 4) {
    out.summary.incomplete = summary_line();
    out.summary.clean = false;
  }
  return out;
}

std::string Sweep::summary_line() const {
  const auto all = static_cast<std::int64_t>(cases.size());
  const std::int64_t failing = count(Status::findings), refused = count(Status::refused),
                     unchecked = count(Status::unchecked), left = count(Status::not_run);
  std::string out = failing > 0        ? cat("NOT clean: ", failing, " of ", all, " cases fail")
                    : exit_code() == 4 ? cat("could not check all: ", count(Status::clean), " of ",
                                             all, " cases are clean")
                                       : cat("clean: ", counted(all - refused, "case"));
  if (const auto others = count_of_others(); others > 0)
    out += cat(", of which another kernel ran ", others);
  if (refused > 0) out += cat(", ", refused, " refused");
  if (unchecked > 0) out += cat(", ", unchecked, " could not be checked");
  if (left > 0) out += cat(", ", left, " not run: ", timed_out ? "the time limit" : "stopped");
  return out;
}

Sweep sweep(std::span<const SweepCase> cases, double time_limit_s, const CheckCase& check_case) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  Sweep out;
  for (const SweepCase& one : cases) {
    const double left = time_limit_s - std::chrono::duration<double>(Clock::now() - begin).count();
    if (time_limit_s > 0 && left <= 0) out.timed_out = true;
    if (out.timed_out) out.cases.push_back({.which = one});
    else out.cases.push_back(run_case(one, time_limit_s > 0 ? left : 0, check_case));
  }
  return out;
}

}  // namespace tessera::check
