// Whether two footprints in memory meet: ranges, residues, and a linear equation in two bounded
// unknowns.
#include "overlap.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

namespace tessera::detail {

namespace {

/// Modulo `period` each matrix covers at most one interval. Are the two intervals apart?
bool apart_modulo(std::int64_t period, const Footprint& a, const Footprint& c) {
  const Wide shift = floor_mod(c.low - a.low, period);  // from a's interval to c's
  return a.bytes_modulo(period) <= shift && shift + c.bytes_modulo(period) <= period;
}

/// Is there x in [x0, x1] and y in [y0, y1] with x * p + y * q = d? p, q > 0.
bool has_solution(Wide p, Wide q, Wide d, Wide x0, Wide x1, Wide y0, Wide y1) {
  Wide g = p, next = q, s = 1, next_s = 0;  // g = s * p modulo q
  while (next != 0) {
    const Wide quotient = g / next;
    g = std::exchange(next, g - quotient * next);
    s = std::exchange(next_s, s - quotient * next_s);
  }
  if (d % g != 0) return false;
  // All solutions: x = x_first + t * (q / g), y = (d - x * p) / q. The smallest x in its range, and
  // how far the largest is.
  const Wide step_x = q / g, step_y = p / g;
  const Wide any = floor_mod(s, step_x) * floor_mod(d / g, step_x) % step_x;
  const Wide x = x0 + floor_mod(any - x0, step_x);
  if (x > x1) return false;
  const Wide y = (d - x * p) / q;  // falls by step_y with each t
  const Wide last = (x1 - x) / step_x;
  const Wide t_low = y > y1 ? -floor_div(y1 - y, step_y) : 0;  // smallest t with y - t step_y <= y1
  return t_low <= last && y - t_low * step_y >= y0;
}

/// Exact where both move by the same steps on one grid of elements; nothing otherwise.
std::optional<bool> overlap_of_same_steps(const Footprint& a, const Footprint& c) {
  const Wide d = c.low - a.low;
  if (a.size != c.size || d % a.size != 0) return {};
  std::array<std::int64_t, 2> steps{};
  std::size_t known = 0;
  for (const Footprint* f : {&a, &c}) {
    for (const Mode& mode : f->modes) {
      if (mode.step == 0 || std::find(steps.begin(), steps.end(), mode.step) != steps.end())
        continue;
      if (known == steps.size()) return {};
      steps[known++] = mode.step;
    }
  }
  // Two elements meet where their distances along each step add up to d.
  const auto least = [&](std::int64_t step) { return Wide{1} - c.count(step); };
  const auto most = [&](std::int64_t step) { return Wide{a.count(step)} - 1; };
  const auto [p, q] = steps;
  if (known == 0) return d == 0;
  if (known == 1) return d % p == 0 && least(p) <= d / p && d / p <= most(p);
  return has_solution(p, q, d, least(p), most(p), least(q), most(q));
}

}  // namespace

bool may_overlap(const Footprint& a, const Footprint& c) {
  if (a.high() <= c.low || c.high() <= a.low) return false;
  if (const auto exact = overlap_of_same_steps(a, c)) return *exact;
  std::int64_t common = 0;
  for (const Footprint* f : {&a, &c}) {
    for (const Mode& mode : f->modes) {
      common = std::gcd(common, mode.step);
      if (mode.step > 0 && apart_modulo(mode.step, a, c)) return false;
    }
  }
  return common == 0 || !apart_modulo(common, a, c);
}

}  // namespace tessera::detail
