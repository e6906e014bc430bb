// Bisection: see boxes.hpp. Searches the cuts with the smallest total surface with real extents,
// then rounds them to whole positions.
#include "boxes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

namespace tessera::scale {

namespace {

/// How often an extent may still be cut: kAny, or as many times.
using Cuts = std::array<int, 3>;
constexpr int kAny = 2;

/// Real extents.
struct Extents {
  std::array<double, 3> lengths{};
  Cuts cuts{};
};

void take_cut(Cuts& cuts, int extent) {
  if (cuts[extent] != kAny) --cuts[extent];
}

/// Up to this many ranks, every extent of at least kNearlyLong times the longest may be cut at one
/// of four positions; up to the second number, at one of two; beyond, the longest in the middle.
constexpr int kFewRanks = 40, kManyRanks = 100;
constexpr double kNearlyLong = 0.7, kEquallyLong = 0.99;
/// Boxes whose sides have the same ratios within 1/kSteps are cut alike.
constexpr double kSteps = 500;

struct Cut {
  double surface = 0;  ///< of all boxes, if the longest extent is 1
  int first = 0;       ///< ranks before the cut
  int extent = 0;      ///< 0: the longest
};

class Bisection {
 public:
  /// The best cut of a box with extents in descending order, at least one of which may be cut.
  Cut best(int ranks, const Extents& sorted) {
    const double longest = sorted.lengths[0];
    const double n = sorted.lengths[1] / longest, k = sorted.lengths[2] / longest;
    if (ranks == 1) return {n + k + n * k, 0, 0};
    const auto key = std::tuple(ranks, step(n), step(k), sorted.cuts);
    if (const auto at = known_.find(key); at != known_.end()) return at->second;
    Cut out{std::numeric_limits<double>::infinity(), ranks / 2, 0};
    const double least = ranks > kFewRanks ? kEquallyLong : kNearlyLong;
    double longest_cut = 0;  // of the extents that may be cut
    for (int extent = 0; extent < 3; ++extent) {
      if (sorted.cuts[extent] == 0) continue;
      if (longest_cut == 0) longest_cut = sorted.lengths[extent];
      else if (ranks > kManyRanks || sorted.lengths[extent] < longest_cut * least) break;
      for (const int first : places(ranks)) {
        if (first < 1 || first >= ranks) continue;
        Extents before{{1, n, k}, sorted.cuts};
        take_cut(before.cuts, extent);
        Extents after = before;
        before.lengths[extent] *= static_cast<double>(first) / ranks;
        after.lengths[extent] -= before.lengths[extent];
        const double surface = surface_of(first, before) + surface_of(ranks - first, after);
        if (surface < out.surface * (1 - 1e-9)) out = {surface, first, extent};
      }
    }
    known_.emplace(key, out);
    return out;
  }

 private:
  double surface_of(int ranks, const Extents& extents) {
    std::array<int, 3> order{0, 1, 2};
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return extents.lengths[a] > extents.lengths[b]; });
    Extents sorted;
    for (int i = 0; i < 3; ++i) {
      sorted.lengths[i] = extents.lengths[order[i]];
      sorted.cuts[i] = extents.cuts[order[i]];
    }
    return best(ranks, sorted).surface * sorted.lengths[0] * sorted.lengths[0];
  }
  static long step(double ratio) { return std::lround(std::log(ratio) * kSteps); }
  static std::array<int, 4> places(int ranks) {
    int power = 1;
    while (power * 2 < ranks) power *= 2;
    if (ranks > kManyRanks) return {ranks / 2, 0, 0, 0};
    if (ranks > kFewRanks) return {ranks / 2, ranks - power, 0, 0};
    return {ranks / 2, (ranks + 1) / 3, ranks - power, ranks / 3};
  }

  std::map<std::tuple<int, long, long, Cuts>, Cut> known_;
};

/// The two ends of an extent of a box.
std::array<index_t*, 2> ends(Box& box, int extent) {
  if (extent == 0) return {&box.m0, &box.m1};
  if (extent == 1) return {&box.n0, &box.n1};
  return {&box.k0, &box.k1};
}

void cut(Bisection& search, const Box& box, int ranks, index_t unit, Cuts cuts,
         std::vector<Box>& out) {
  const std::array<index_t, 3> extents{box.m(), box.n(), box.k()};
  const std::array<index_t, 3> units{1, 1, unit};
  const bool empty = std::any_of(extents.begin(), extents.end(), [](index_t e) { return e <= 0; });
  std::array<int, 3> order{0, 1, 2};
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return extents[a] > extents[b]; });
  Extents sorted;
  for (int i = 0; i < 3; ++i) {
    sorted.lengths[i] = static_cast<double>(extents[order[i]]);
    sorted.cuts[i] = extents[order[i]] <= units[order[i]] ? 0 : cuts[order[i]];
  }
  if (ranks == 1 || empty || sorted.cuts == Cuts{}) {
    out.push_back(box);
    out.insert(out.end(), static_cast<std::size_t>(ranks - 1), Box{});
    return;
  }
  const Cut best = search.best(ranks, sorted);
  const int extent = order[best.extent];
  const index_t length = extents[extent], each = units[extent];
  const double wanted = static_cast<double>(length) * best.first / ranks;
  const index_t at = each * std::clamp<index_t>(std::llround(wanted / static_cast<double>(each)), 1,
                                                (length - 1) / each);
  Box before = box, after = box;
  const auto [begin, end] = ends(before, extent);
  const index_t place = *begin + at;
  *end = place;
  *ends(after, extent)[0] = place;
  take_cut(cuts, extent);
  cut(search, before, best.first, unit, cuts, out);
  cut(search, after, ranks - best.first, unit, cuts, out);
}

}  // namespace

std::vector<Box> cut_into_boxes(const Shape& shape, int ranks, index_t unit, CutsOfK k) {
  std::vector<Box> out;
  out.reserve(static_cast<std::size_t>(ranks));
  Bisection search;
  const Cuts cuts{kAny, kAny, k == CutsOfK::any ? kAny : 1};
  cut(search, {0, shape.M, 0, shape.N, 0, shape.K}, ranks, unit, cuts, out);
  return out;
}

}  // namespace tessera::scale
