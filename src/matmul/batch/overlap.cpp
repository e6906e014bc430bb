// Sorted by address, the matrices of a batch form disjoint groups. In a group that contains a C,
// windows of one matrix are all separated at once: modulo its stride each covers one interval. Only
// where that fails is each pair compared.
#include "overlap.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "matmul/overlap.hpp"
#include "matmul/overlap_error.hpp"

namespace tessera::detail {

namespace {

struct Item {
  Footprint place;
  index_t product;
  char operand;  ///< A, B or C

  bool is_c() const { return operand == 'C'; }
};

/// Modulo `period` an item covers one interval. Is that of each C disjoint from all others?
bool all_apart_modulo(std::int64_t period, std::span<const Item> items) {
  struct Interval {
    Int128 begin, end;
    bool is_c;
  };
  std::vector<Interval> intervals;
  intervals.reserve(items.size());
  Int128 reached = 0, reached_by_c = 0;  // by an interval that began in the previous period
  for (const Item& item : items) {
    const Int128 begin = floor_mod(item.place.low, period);
    const Int128 end = begin + item.place.bytes_modulo(period);
    if (end - begin > period) return false;
    intervals.push_back({begin, end, item.is_c()});
    reached = std::max(reached, end - period);
    if (item.is_c()) reached_by_c = std::max(reached_by_c, end - period);
  }
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& x, const Interval& y) { return x.begin < y.begin; });
  for (const Interval& each : intervals) {
    if (each.begin < (each.is_c ? reached : reached_by_c)) return false;
    reached = std::max(reached, each.end);
    if (each.is_c) reached_by_c = std::max(reached_by_c, each.end);
  }
  return true;
}

/// Items sorted by address whose address ranges form one connected group.
void refuse_overlaps_in_group(std::string_view call, std::span<const Product> products,
                              std::span<const Item> items) {
  if (items.size() == 1 ||
      std::none_of(items.begin(), items.end(), [](const Item& item) { return item.is_c(); }))
    return;
  std::int64_t longest = 0, common = 0;
  for (const Item& item : items) {
    for (const ByteMode& mode : item.place.modes) {
      common = std::gcd(common, mode.step);
      if (item.is_c()) longest = std::max(longest, mode.step);
    }
  }
  for (const std::int64_t period : {longest, common}) {
    if (period > 0 && all_apart_modulo(period, items)) return;
  }
  for (auto x = items.begin(); x != items.end(); ++x) {
    const Int128 high = x->place.high();
    for (auto y = x + 1; y != items.end() && y->place.low < high; ++y) {
      if (!(x->is_c() || y->is_c()) || !may_overlap(x->place, y->place)) continue;
      const bool x_first = x->is_c() && (!y->is_c() || x->product > y->product);
      const Item &c = x_first ? *x : *y, &other = x_first ? *y : *x;
      const Product& read = products[static_cast<std::size_t>(other.product)];
      const ConstMatrix operand = other.is_c() ? read.C : other.operand == 'A' ? read.A : read.B;
      throw OverlapError(Category::argument,
                         cat(call, ": C of product ", c.product, " overlaps ", other.operand,
                             " of product ", other.product),
                         {},
                         places(std::string(1, other.operand), operand,
                                products[static_cast<std::size_t>(c.product)].C),
                         "give each C memory of its own");
    }
  }
}

}  // namespace

void refuse_overlaps(std::string_view call, std::span<const Product> products) {
  std::vector<Item> items;
  items.reserve(3 * products.size());
  for (std::size_t i = 0; i < products.size(); ++i) {
    const auto& [A, B, C] = products[i];
    if (C.rows == 0 || C.cols == 0) continue;
    const auto product = static_cast<index_t>(i);
    items.push_back({Footprint(C), product, 'C'});
    if (A.cols == 0) continue;
    items.push_back({Footprint(A), product, 'A'});
    items.push_back({Footprint(B), product, 'B'});
  }
  std::sort(items.begin(), items.end(), [](const Item& x, const Item& y) {
    return std::pair(x.place.low, x.product) < std::pair(y.place.low, y.product);
  });
  for (auto first = items.begin(); first != items.end();) {
    Int128 high = first->place.high();
    auto last = first + 1;
    for (; last != items.end() && last->place.low < high; ++last)
      high = std::max(high, last->place.high());
    refuse_overlaps_in_group(call, products, {first, last});
    first = last;
  }
}

}  // namespace tessera::detail
