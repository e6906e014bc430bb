// Two elements overlap where a sum of steps, each taken a bounded number of times, equals one of a
// few numbers. The search takes the longest step first, so that the others reach only a little
// further: in ordinary arrays a step has one or two candidates. The last two steps are
// solved as a linear equation.
#include "overlap.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace tessera {

namespace {

using Wide = __int128;  // sums of distances of 64 bits

/// The step limit of a search, about a millisecond; a search that is not finished then counts as an
/// overlap.
constexpr int kMostTried = 10'000;

Wide floor_div(Wide a, Wide b) { return a / b - (a % b < 0 ? 1 : 0); }
Wide floor_mod(Wide a, Wide b) { return (a % b + b) % b; }

/// x * step for x from 0 to `most`; both are positive.
struct Term {
  Wide step, most;
};

/// Is there x in [0, p.most] and y in [0, q.most] with x * p.step + y * q.step = sum?
bool has_solution(const Term& p, const Term& q, Wide sum) {
  Wide g = p.step, next = q.step, s = 1, next_s = 0;  // g = s * p.step modulo q.step
  while (next != 0) {
    const Wide quotient = g / next;
    g = std::exchange(next, g - quotient * next);
    s = std::exchange(next_s, s - quotient * next_s);
  }
  if (sum % g != 0) return false;
  // All solutions: x + t * (q.step / g), y - t * (p.step / g), from the least x that is not
  // negative.
  const Wide x_step = q.step / g, y_step = p.step / g;
  const Wide x = floor_mod(s, x_step) * floor_mod(sum / g, x_step) % x_step;
  if (x > p.most) return false;
  const Wide y = (sum - x * p.step) / q.step;
  const Wide t = y > q.most ? -floor_div(q.most - y, y_step) : 0;  // the smallest sufficient value
  return t <= (p.most - x) / x_step && y - t * y_step >= 0;
}

/// Which numbers are sums of terms.
class Sums {
 public:
  explicit Sums(std::vector<Term> terms) {
    std::sort(terms.begin(), terms.end(),
              [](const Term& x, const Term& y) { return x.step > y.step; });
    for (const Term& each : terms) {
      if (!terms_.empty() && terms_.back().step == each.step) terms_.back().most += each.most;
      else terms_.push_back(each);
    }
    reach_.assign(terms_.size() + 1, 0);
    divisor_.assign(terms_.size() + 1, 0);
    for (std::size_t i = terms_.size(); i-- > 0;) {
      reach_[i] = reach_[i + 1] + terms_[i].step * terms_[i].most;
      divisor_[i] = std::gcd(divisor_[i + 1], static_cast<std::int64_t>(terms_[i].step));
    }
  }

  /// Is a sum of them in [low, high]? True also where the search gave up.
  bool reaches(Wide low, Wide high) {
    tried_ = 0;
    return reaches(0, low, high);
  }

 private:
  /// The same with the terms from i on.
  bool reaches(std::size_t i, Wide low, Wide high) {
    if (++tried_ > kMostTried) return true;
    low = std::max<Wide>(low, 0);
    high = std::min(high, reach_[i]);
    if (low > high) return false;
    if (i == terms_.size()) return true;
    const Wide divisor = divisor_[i], last = floor_div(high, divisor) * divisor;
    if (last < low) return false;
    const std::size_t left = terms_.size() - i;
    if (left == 1) return true;
    const Term& term = terms_[i];
    if (left == 2) {
      for (Wide sum = last; sum >= low; sum -= divisor)
        if (++tried_ > kMostTried || has_solution(term, terms_[i + 1], sum)) return true;
      return false;
    }
    const Wide most = std::min(term.most, high / term.step);
    for (Wide x = std::max<Wide>(0, -floor_div(reach_[i + 1] - low, term.step)); x <= most; ++x)
      if (reaches(i + 1, low - x * term.step, high - x * term.step)) return true;
    return false;
  }

  std::vector<Term> terms_;            // the longest step first, no step twice
  std::vector<Wide> reach_;            // the largest sum of the terms from i on
  std::vector<std::int64_t> divisor_;  // of all their sums
  int tried_ = 0;
};

/// The modes of nonzero step, with positive steps.
std::vector<Term> terms_of(const StridedBytes& a) {
  std::vector<Term> out;
  for (const ByteMode& mode : a.modes)
    if (mode.count > 1 && mode.step != 0)
      out.push_back({mode.step < 0 ? -Wide{mode.step} : Wide{mode.step}, mode.count - 1});
  return out;
}

Wide reach_of(const std::vector<Term>& terms) {
  Wide out = 0;
  for (const Term& each : terms) out += each.step * each.most;
  return out;
}

/// The lowest address.
Wide low_of(const StridedBytes& a) {
  Wide out = reinterpret_cast<std::intptr_t>(a.first);
  for (const ByteMode& mode : a.modes)
    if (mode.step < 0) out += Wide{mode.count - 1} * mode.step;
  return out;
}

}  // namespace

bool may_overlap(const StridedBytes& a, const StridedBytes& b) {
  std::vector<Term> terms = terms_of(a);
  const std::vector<Term> others = terms_of(b);
  // low_a + steps of a + a byte = low_b + steps of b + a byte. The steps of b are counted from its
  // end, so that all have one sign.
  const Wide apart = low_of(b) - low_of(a) + reach_of(others);
  const Wide low = apart - (a.size - 1), high = apart + b.size - 1;
  if (high < 0 || low > reach_of(terms) + reach_of(others)) return false;
  terms.insert(terms.end(), others.begin(), others.end());
  return Sums(std::move(terms)).reaches(low, high);
}

bool may_overlap_itself(const StridedBytes& a) {
  for (const ByteMode& mode : a.modes)
    if (mode.count > 1 && mode.step == 0) return true;
  std::vector<Term> terms = terms_of(a);
  std::sort(terms.begin(), terms.end(),
            [](const Term& x, const Term& y) { return x.step > y.step; });
  // Of two elements that overlap, one has the larger coordinate in the first mode in which they
  // differ, and any coordinate in the modes after it.
  while (!terms.empty()) {
    const Term first = terms.front();
    terms.erase(terms.begin());
    std::vector<Term> differences = terms;
    for (Term& each : differences) each.most *= 2;
    if (first.most > 1) differences.push_back({first.step, first.most - 1});
    const Wide zero = reach_of(terms) - first.step;  // as a sum of `differences`
    if (Sums(std::move(differences)).reaches(zero - (a.size - 1), zero + a.size - 1)) return true;
  }
  return false;
}

}  // namespace tessera
