// Bisection and its communication volume: see boxes.hpp. Searches the cuts with the smallest total
// surface with real extents, then rounds them to whole positions.
#include "boxes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <functional>
#include <limits>
#include <map>
#include <tuple>

namespace tessera::scale {

namespace {

using Extents = std::array<double, 3>;

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
  /// The best cut of a box with extents in descending order.
  Cut best(int ranks, const Extents& sorted) {
    const double longest = sorted[0];
    const double n = sorted[1] / longest, k = sorted[2] / longest;
    if (ranks == 1) return {n + k + n * k, 0, 0};
    const auto key = std::tuple(ranks, step(n), step(k));
    if (const auto at = known_.find(key); at != known_.end()) return at->second;
    Cut out{std::numeric_limits<double>::infinity(), ranks / 2, 0};
    const int extents = ranks > kManyRanks ? 1 : 3;
    const double least = ranks > kFewRanks ? kEquallyLong : kNearlyLong;
    for (int extent = 0; extent < extents; ++extent) {
      if (sorted[extent] < longest * least) break;
      for (const int first : places(ranks)) {
        if (first < 1 || first >= ranks) continue;
        Extents before{1, n, k}, after{1, n, k};
        before[extent] *= static_cast<double>(first) / ranks;
        after[extent] -= before[extent];
        const double surface = surface_of(first, before) + surface_of(ranks - first, after);
        if (surface < out.surface * (1 - 1e-9)) out = {surface, first, extent};
      }
    }
    known_.emplace(key, out);
    return out;
  }

 private:
  double surface_of(int ranks, Extents extents) {
    std::sort(extents.begin(), extents.end(), std::greater<>());
    return best(ranks, extents).surface * extents[0] * extents[0];
  }
  static long step(double ratio) { return std::lround(std::log(ratio) * kSteps); }
  static std::array<int, 4> places(int ranks) {
    int power = 1;
    while (power * 2 < ranks) power *= 2;
    if (ranks > kManyRanks) return {ranks / 2, 0, 0, 0};
    if (ranks > kFewRanks) return {ranks / 2, ranks - power, 0, 0};
    return {ranks / 2, (ranks + 1) / 3, ranks - power, ranks / 3};
  }

  std::map<std::tuple<int, long, long>, Cut> known_;
};

/// The two ends of an extent of a box.
std::array<index_t*, 2> ends(Box& box, int extent) {
  if (extent == 0) return {&box.m0, &box.m1};
  if (extent == 1) return {&box.n0, &box.n1};
  return {&box.k0, &box.k1};
}

void cut(Bisection& search, const Box& box, int ranks, std::vector<Box>& out) {
  const std::array<index_t, 3> extents{box.m(), box.n(), box.k()};
  const bool empty = std::any_of(extents.begin(), extents.end(), [](index_t e) { return e <= 0; });
  const bool one = std::all_of(extents.begin(), extents.end(), [](index_t e) { return e == 1; });
  if (ranks == 1 || empty || one) {
    out.push_back(box);
    out.insert(out.end(), static_cast<std::size_t>(ranks - 1), Box{});
    return;
  }
  std::array<int, 3> order{0, 1, 2};
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return extents[a] > extents[b]; });
  Extents sorted{};
  for (int i = 0; i < 3; ++i) sorted[i] = static_cast<double>(extents[order[i]]);
  const Cut best = search.best(ranks, sorted);
  const index_t length = extents[order[best.extent]];
  const double wanted = static_cast<double>(length) * best.first / ranks;
  const index_t at = std::clamp<index_t>(std::llround(wanted), 1, std::max<index_t>(1, length - 1));
  Box before = box, after = box;
  const auto [begin, end] = ends(before, order[best.extent]);
  const index_t place = *begin + at;
  *end = place;
  *ends(after, order[best.extent])[0] = place;
  cut(search, before, best.first, out);
  cut(search, after, ranks - best.first, out);
}

/// A part of A, B or C.
struct Part {
  index_t i0, i1, j0, j1;
  auto operator<=>(const Part&) const = default;
  double count() const { return static_cast<double>(i1 - i0) * static_cast<double>(j1 - j0); }
  bool is_empty() const { return i0 >= i1 || j0 >= j1; }
};

/// A part, and how many ranks use it.
struct Shared {
  Part part;
  index_t ranks;
};

Part common(const Part& a, const Part& b) {
  return {std::max(a.i0, b.i0), std::min(a.i1, b.i1), std::max(a.j0, b.j0), std::min(a.j1, b.j1)};
}

/// Elements of `own` without one rank's share of them: 1/q of those that q ranks use. `others` are
/// subsets of `own`.
double not_own(const Shared& own, const std::vector<Shared>& others) {
  std::vector<index_t> rows{own.part.i0, own.part.i1}, cols{own.part.j0, own.part.j1};
  for (const Shared& each : others) {
    rows.insert(rows.end(), {each.part.i0, each.part.i1});
    cols.insert(cols.end(), {each.part.j0, each.part.j1});
  }
  for (auto* places : {&rows, &cols}) {
    std::sort(places->begin(), places->end());
    places->erase(std::unique(places->begin(), places->end()), places->end());
  }
  double out = 0;
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    for (std::size_t j = 0; j + 1 < cols.size(); ++j) {
      index_t users = own.ranks;
      for (const Shared& each : others) {
        const Part& p = each.part;
        if (p.i0 <= rows[i] && rows[i] < p.i1 && p.j0 <= cols[j] && cols[j] < p.j1)
          users += each.ranks;
      }
      const Part cell{rows[i], rows[i + 1], cols[j], cols[j + 1]};
      out += cell.count() * (1 - 1 / static_cast<double>(users));
    }
  }
  return out;
}

/// Calls found(rank, elements received, partners) for each part that is not empty.
template <class Found>
void each_part(const std::vector<Part>& parts, const Found& found) {
  std::map<Part, std::vector<std::size_t>> ranks_of;  // many ranks may have the same part
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    if (!parts[rank].is_empty()) ranks_of[parts[rank]].push_back(rank);
  }
  std::vector<Shared> own;
  for (const auto& [part, ranks] : ranks_of)
    own.push_back({part, static_cast<index_t>(ranks.size())});
  std::vector<std::vector<Shared>> others(own.size());
  for (std::size_t a = 0; a < own.size(); ++a) {
    for (std::size_t b = a + 1; b < own.size() && own[b].part.i0 < own[a].part.i1; ++b) {
      const Part shared = common(own[a].part, own[b].part);
      if (shared.is_empty()) continue;
      others[a].push_back({shared, own[b].ranks});
      others[b].push_back({shared, own[a].ranks});
    }
  }
  for (std::size_t n = 0; n < own.size(); ++n) {
    const double received = not_own(own[n], others[n]);
    index_t partners = own[n].ranks - 1;
    for (const Shared& each : others[n]) partners += each.ranks;
    for (const std::size_t rank : ranks_of[own[n].part]) found(rank, received, partners);
  }
}

}  // namespace

std::vector<Box> cut_into_boxes(const Shape& shape, int ranks) {
  std::vector<Box> out;
  out.reserve(static_cast<std::size_t>(ranks));
  Bisection search;
  cut(search, {0, shape.M, 0, shape.N, 0, shape.K}, ranks, out);
  return out;
}

std::vector<Received> received_by(const std::vector<Box>& boxes) {
  std::vector<Received> out(boxes.size());
  std::vector<Part> a, b, c;
  for (const Box& box : boxes) {
    a.push_back({box.m0, box.m1, box.k0, box.k1});
    b.push_back({box.k0, box.k1, box.n0, box.n1});
    c.push_back({box.m0, box.m1, box.n0, box.n1});
  }
  each_part(a, [&](std::size_t rank, double count, index_t partners) {
    out[rank].a = count, out[rank].partners_a = partners;
  });
  each_part(b, [&](std::size_t rank, double count, index_t partners) {
    out[rank].b = count, out[rank].partners_b = partners;
  });
  each_part(c, [&](std::size_t rank, double count, index_t partners) {
    out[rank].c = count, out[rank].partners_c = partners;
  });
  return out;
}

}  // namespace tessera::scale
