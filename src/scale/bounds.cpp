// The lower bounds: see bounds.hpp.
#include "bounds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace tessera::scale {

double words_received_bound(const Shape& shape, int ranks) {
  std::array<double, 3> extents{static_cast<double>(shape.M), static_cast<double>(shape.N),
                                static_cast<double>(shape.K)};
  std::sort(extents.begin(), extents.end(), std::greater<>());
  const auto [m, n, k] = extents;
  if (k <= 0 || ranks <= 1) return 0;
  const double P = ranks, all = m * n + m * k + n * k;
  double touched = 0;  // for the rank with an equal share of the multiply-adds
  if (P <= m / n) touched = (m * n + m * k) / P + n * k;
  else if (P <= m * n / (k * k)) touched = 2 * std::sqrt(m * n * k * k / P) + m * n / P;
  else touched = 3 * std::pow(m * n * k / P, 2.0 / 3);
  return std::max(0.0, touched - all / P);
}

double words_moved_bound(double multiply_adds, double words_of_memory) {
  if (words_of_memory <= 0) return 0;
  return std::max(0.0, 2 * multiply_adds / std::sqrt(words_of_memory) - 2 * words_of_memory);
}

}  // namespace tessera::scale
