// Which rank reads which elements of A or B from the file, and which ranks it sends them to. The
// ranks that use an element own it in equal shares: each element is read once, and received by all
// of its users but one. Pure code; the plan counts by it, and the ranks exchange by it.
#pragma once

#include <algorithm>
#include <compare>
#include <vector>

#include "plan.hpp"

namespace tessera::scale {

/// Rows [i0, i1) and columns [j0, j1) of a matrix.
struct Part {
  index_t i0 = 0, i1 = 0, j0 = 0, j1 = 0;
  auto operator<=>(const Part&) const = default;
  index_t rows() const { return i1 - i0; }
  index_t cols() const { return j1 - j0; }
  bool is_empty() const { return i0 >= i1 || j0 >= j1; }
};

inline Part common(const Part& a, const Part& b) {
  return {std::max(a.i0, b.i0), std::min(a.i1, b.i1), std::max(a.j0, b.j0), std::min(a.j1, b.j1)};
}

/// The parts of the matrices that a box uses.
inline Part part_of_a(const Box& box) { return {box.m0, box.m1, box.k0, box.k1}; }
inline Part part_of_b(const Box& box) { return {box.k0, box.k1, box.n0, box.n1}; }
inline Part part_of_c(const Box& box) { return {box.m0, box.m1, box.n0, box.n1}; }

/// Elements of one owner with the same users.
struct Share {
  Part part;
  int owner = 0;
  index_t cell = 0;  ///< its place in Shares::users
};

struct Shares {
  std::vector<Share> all;
  std::vector<std::vector<int>> users;  ///< of each cell, ascending; of C nobody
};

/// Along which extent a cell is divided between its users, if it has enough rows or columns.
enum class Divided { by_rows, by_columns };

/// The shares of all elements that are in at least one of the parts; parts[rank] is what a rank
/// uses.
Shares equal_shares(const std::vector<Part>& parts, Divided divided);

/// Those of a plan, by the boxes of its ranks.
Shares shares_of_a(const ScalePlan& plan);
Shares shares_of_b(const ScalePlan& plan);

/// The plan of a product whose matrices the ranks hold already, in these shares: what a box needs
/// of A and B comes from the owners, and finished sums go to those of C. The users of a share need
/// not use all of it. Without files, and without a forecast of time.
ScalePlan plan_of_boxes(const Request& request, const std::vector<Box>& boxes, const Shares& a,
                        const Shares& b, const Shares& c);

/// Are sums of this box continued, or do they continue others? Then its rank keeps all of them.
bool passes_sums_on(const Box& box, const Shape& shape);

}  // namespace tessera::scale
