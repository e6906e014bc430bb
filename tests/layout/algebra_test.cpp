// Each operation's law, over random hierarchical layouts and every coordinate of them.
#include "tessera/layout/algebra.hpp"

#include <gmock/gmock.h>

#include "layout/support.hpp"

namespace tessera {
namespace {

using namespace testing_layouts;

TEST(LayoutCall, LinearFlatAndNestedCoordinatesAgree) {
  for_all("one number, one per mode and nested tuples give one index", [] {
    const Layout a = random_layout();
    for (index_t i = 0; i < a.size(); ++i) {
      const IntTuple nested = idx2crd(i, a);
      RC_ASSERT(a(i) == a(nested));
      RC_ASSERT(a(i) == crd2idx(nested, a));
      // The definition, written out.
      RC_ASSERT(a(i) == inner_product(nested, a.stride));
      if (a.rank() == 2) {
        const index_t rows = a.mode(0).size();
        RC_ASSERT(a(i) == a(i % rows, i / rows));
        RC_ASSERT(a(i) == a(i % rows, idx2crd(i / rows, a.mode(1))));
      }
    }
  });
}

TEST(LayoutCall, CosizeIsTheLengthOfTheRangeOfIndices) {
  for_all("cosize spans smallest to largest index", [] {
    const Layout a = random_layout();
    const std::vector<index_t> all = sorted_indices(a);
    RC_ASSERT(a.cosize() == all.back() - all.front() + 1);
  });
}

TEST(Coalesce, KeepsTheFunctionAndHasNoMoreModes) {
  for_all("coalesce(a)(i) == a(i)", [] {
    const Layout a = random_layout(), b = coalesce(a);
    RC_ASSERT(indices(a) == indices(b));
    RC_ASSERT(b.shape.is_flat());
    RC_ASSERT(b.shape.leaves() <= a.shape.leaves());
    RC_ASSERT(coalesce(b) == b);
    for (int k = 0; k + 1 < b.shape.leaves(); ++k)
      RC_ASSERT(b.stride.leaf(k + 1) != b.shape.leaf(k) * b.stride.leaf(k));
  });
}

TEST(Coalesce, ModeByModeKeepsEveryModeItself) {
  for_all("coalesce_modes(a).mode(m) is coalesce(a.mode(m))", [] {
    const Layout a = random_layout(), b = coalesce_modes(a);
    RC_ASSERT(a.rank() == b.rank() || a.rank() == 1);
    if (a.rank() == b.rank())
      for (int m = 0; m < a.rank(); ++m) RC_ASSERT(b.mode(m) == coalesce(a.mode(m)));
    RC_ASSERT(indices(a) == indices(b));
  });
}

void expect_composition(const Layout& a, const Layout& b, const Layout& r) {
  RC_ASSERT(r.size() == b.size());
  RC_ASSERT(compatible(b.shape, r.shape));
  for (index_t i = 0; i < b.size(); ++i) RC_ASSERT(r(i) == a(b(i)));
}

TEST(Composition, WithAPowerOfTwoPermutationIsNeverRefused) {
  for_all("composition(a,b)(i) == a(b(i))", [] {
    const IntTuple shape = random_tuple(5, 3, [] { return index_t{1} << pick(0, 3); });
    const IntTuple order = with_leaves(shape, [](int) { return pick(0, 9); });
    const Layout a = random_power_of_two(), b = make_ordered_layout(shape, order);
    expect_composition(a, b, composition(a, b));
  });
}

TEST(Composition, IsTheFunctionOfTheFunctionOrRefused) {
  int accepted = 0;
  for_all("composition(a,b)(i) == a(b(i))", [&] {
    const Layout a = random_layout(), b = random_layout(4);
    try {
      const Layout r = composition(a, b);
      ++accepted;
      expect_composition(a, b, r);
    } catch (const Error& error) {
      RC_ASSERT(error.category() == Category::shape);
    }
  });
  EXPECT_GT(accepted, 10);
}

TEST(Composition, IsAssociativeWhereItIsDefined) {
  int accepted = 0;
  for_all("(a o b) o c == a o (b o c)", [&] {
    const Layout a = random_power_of_two(3), b = random_power_of_two(2), c = random_power_of_two(2);
    try {
      const Layout left = composition(composition(a, b), c);
      const Layout right = composition(a, composition(b, c));
      // Past the end of b or a the two may continue differently.
      if (c.cosize() <= b.size() && b.cosize() <= a.size())
        RC_ASSERT(indices(left) == indices(right));
      ++accepted;
    } catch (const Error& error) {
      RC_ASSERT(error.category() == Category::shape);
    }
  });
  EXPECT_GT(accepted, 10);
}

TEST(Composition, ByModeActsOnEachMode) {
  for_all("composition(a,<x,y>).mode(m) is the composition of mode m", [] {
    const Layout a = make_layout(random_power_of_two(3), random_power_of_two(3));
    const Layout x(pick(1, 8), 1), y(index_t{1} << pick(0, 3), index_t{1} << pick(0, 2));
    RC_PRE((x.size() & (x.size() - 1)) == 0);
    const Layout r = composition(a, tiler(x, y));
    RC_ASSERT(r == make_layout(composition(a.mode(0), x), composition(a.mode(1), y)));
  });
}

TEST(Complement, AscendsAndAddsEveryIndexOnce) {
  for_all("a(i) + complement(a,n)(j) are all different", [] {
    const Layout a = random_injective(4);
    const index_t n = pick(1, 200);
    const Layout c = complement(a, n);
    std::set<index_t> sums;
    const std::vector<index_t> gaps = indices(c), own = indices(a);
    RC_ASSERT(std::is_sorted(gaps.begin(), gaps.end()));
    for (const index_t j : gaps)
      for (const index_t i : own) RC_ASSERT(sums.insert(i + j).second);
    index_t end = 1;  // where a and its gaps end
    for (int k = 0; k < a.shape.leaves(); ++k)
      if (a.shape.leaf(k) > 1) end = std::max(end, a.shape.leaf(k) * a.stride.leaf(k));
    RC_ASSERT(c.cosize() <= ceil_div(n, end) * end);
    RC_ASSERT(c.size() >= n / a.size() || a.size() > n);
    // Strides that divide leave no hole below n.
    for (index_t i = 0; i < n; ++i) RC_ASSERT(sums.count(i) == 1);
  });
}

TEST(Complement, OfOverlapIsRefused) {
  EXPECT_THROW(complement(Layout(tuple(2, 2), tuple(1, 1)), 8), Error);
  EXPECT_THROW(complement(Layout(tuple(4, 2), tuple(1, 2)), 8), Error);
  EXPECT_THROW(complement(Layout(4, -1), 8), Error);
  EXPECT_THROW(complement(Layout(0, 1), 8), Error);
}

TEST(RightInverse, IsUndoneByTheLayout) {
  for_all("a(right_inverse(a)(i)) == i", [] {
    const Layout a = random_layout(), r = right_inverse(a);
    for (index_t i = 0; i < r.size(); ++i) RC_ASSERT(a(r(i)) == i);
  });
}

TEST(RightInverse, OfACompactLayoutIsWhole) {
  for_all("the inverse of a permutation has its size", [] {
    const Layout a = random_injective(6, 1);
    RC_ASSERT(right_inverse(a).size() == a.size());
  });
}

TEST(LeftInverse, UndoesTheLayout) {
  for_all("left_inverse(a)(a(i)) == i", [] {
    const Layout a = random_injective();
    const Layout l = left_inverse(a);
    for (index_t i = 0; i < a.size(); ++i) RC_ASSERT(l(a(i)) == i);
  });
}

TEST(LeftInverse, GivesTheFirstCoordinateOfAnIndexThatStride0Repeats) {
  for_all("left_inverse(a)(a(i)) is the least j with a(j) == a(i)", [] {
    Layout a = random_injective(5);
    for (int k = 0; k < a.stride.leaves(); ++k)
      if (pick(0, 2) == 0) a.stride.numbers.set(k, 0);
    const Layout l = left_inverse(a);
    const std::vector<index_t> all = indices(a);
    for (index_t i = 0; i < a.size(); ++i)
      RC_ASSERT(l(a(i)) == std::find(all.begin(), all.end(), a(i)) - all.begin());
  });
}

TEST(LeftInverse, UndoesOtherStridesOrRefuses) {
  int accepted = 0;
  for_all("left_inverse(a)(a(i)) == i", [&] {
    const IntTuple shape = random_shape(3);
    const Layout a(shape, with_leaves(shape, [](int) { return pick(1, 60); }));
    try {
      const Layout l = left_inverse(a);
      ++accepted;
      for (index_t i = 0; i < a.size(); ++i) RC_ASSERT(l(a(i)) == i);
    } catch (const Error& error) {
      RC_ASSERT(error.category() == Category::shape);
    }
  });
  EXPECT_GT(accepted, 10);
}

TEST(LogicalDivide, FirstModeWalksTheTileAndTogetherTheyAreTheLayout) {
  for_all("indices of logical_divide(a,t:1) are those of a", [] {
    const Layout a = random_power_of_two(4);
    const index_t t = index_t{1} << pick(0, 4);
    RC_PRE(a.size() % t == 0);
    const Layout r = logical_divide(a, Layout(t, 1));
    RC_ASSERT(r.mode(0).size() == t);
    for (index_t i = 0; i < t; ++i)
      for (index_t j = 0; j < a.size() / t; ++j) RC_ASSERT(r(i, j) == a(i + t * j));
  });
}

TEST(LogicalDivide, IsTheLayoutAfterTileAndComplement) {
  for_all("logical_divide(a,b)(i,j) == a(b(i) + complement(b)(j))", [] {
    const Layout a = random_power_of_two(3);
    const Layout b(index_t{1} << pick(0, 2), index_t{1} << pick(0, 3));
    const Layout c = complement(b, a.size()), r = logical_divide(a, b);
    for (index_t i = 0; i < b.size(); ++i)
      for (index_t j = 0; j < c.size(); ++j) RC_ASSERT(r(i, j) == a(b(i) + c(j)));
  });
}

TEST(ZippedDivide, ByModeGivesTheTileAtEachPlace) {
  for_all("zipped_divide(a,<m,n>)((i,j),(I,J)) == a(i + m I, j + n J)", [] {
    const index_t m = pick(1, 4), n = pick(1, 4), big_m = pick(1, 4), big_n = pick(1, 4);
    const Layout a(tuple(m * big_m, n * big_n), tuple(pick(-2, 9), pick(-2, 9)));
    const Layout z = zipped_divide(a, tuple(m, n)), t = tiled_divide(a, tuple(m, n));
    RC_ASSERT(z == zipped_divide(a, tiler(Layout(m), Layout(n))));
    for (index_t i = 0; i < m; ++i)
      for (index_t j = 0; j < n; ++j)
        for (index_t r = 0; r < big_m; ++r)
          for (index_t c = 0; c < big_n; ++c) {
            RC_ASSERT(z(tuple(i, j), tuple(r, c)) == a(i + m * r, j + n * c));
            RC_ASSERT(t(tuple(i, j), r, c) == a(i + m * r, j + n * c));
          }
    RC_ASSERT(indices(flat_divide(a, tuple(m, n))) == indices(z));
  });
}

TEST(LogicalProduct, RepeatsTheBlockWithoutOverlap) {
  for_all("mode 0 is the block, mode 1 counts through the complement", [] {
    const Layout a = random_injective(3), b = random_injective(2);
    RC_PRE(a.size() * b.size() <= 4000);
    try {
      const Layout r = logical_product(a, b);
      RC_ASSERT(r.mode(0) == a);
      RC_ASSERT(compatible(b.shape, r.mode(1).shape));
      const std::vector<index_t> all = sorted_indices(r);
      RC_ASSERT(std::adjacent_find(all.begin(), all.end()) == all.end());
      const Layout c = complement(a, a.size() * b.cosize());
      for (index_t j = 0; j < b.size(); ++j) RC_ASSERT(r.mode(1)(j) == c(b(j)));
    } catch (const Error& error) {
      RC_ASSERT(error.category() == Category::shape);
    }
  });
}

TEST(BlockedAndRakedProduct, PairTheModesOfTheLogicalProduct) {
  for_all("the same indices, other coordinates", [] {
    const index_t rows = pick(1, 4);
    const Layout a(tuple(rows, pick(1, 4)), tuple(1, rows));
    const Layout b = row_major(pick(1, 4), pick(1, 4));
    const Layout whole = logical_product(a, b), blocks = blocked_product(a, b),
                 rakes = raked_product(a, b);
    RC_ASSERT(sorted_indices(whole) == sorted_indices(blocks));
    RC_ASSERT(sorted_indices(whole) == sorted_indices(rakes));
    for (int m = 0; m < 2; ++m) {
      RC_ASSERT(blocks.mode(m).size() == a.mode(m).size() * b.mode(m).size());
      RC_ASSERT(blocks.mode(m).mode(0) == a.mode(m));
      RC_ASSERT(rakes.mode(m).mode(1) == a.mode(m));
      RC_ASSERT(blocks.mode(m).mode(1) == rakes.mode(m).mode(0));
    }
  });
}

TEST(TileToShape, FillsTheShapeWithCopiesOfTheTile) {
  for_all("shape reached, nothing twice, the first tile is the tile", [] {
    const index_t m = pick(1, 4), n = pick(1, 4), big_m = m * pick(1, 3), big_n = n * pick(1, 3);
    const Layout tile = pick(0, 1) ? row_major(m, n) : col_major(m, n);
    const IntTuple order = pick(0, 1) ? tuple(0, 1) : tuple(1, 0);
    const Layout r = tile_to_shape(tile, tuple(big_m, big_n), order);
    RC_ASSERT(product_each(r.shape) == tuple(big_m, big_n));
    std::vector<index_t> all = sorted_indices(r);
    for (std::size_t i = 0; i < all.size(); ++i) RC_ASSERT(all[i] == static_cast<index_t>(i));
    for (index_t i = 0; i < m; ++i)
      for (index_t j = 0; j < n; ++j) RC_ASSERT(r(i, j) == tile(i, j));
  });
  EXPECT_THROW(tile_to_shape(row_major(2, 5), tuple(6, 21)), Error);
}

TEST(Cast, UpcastUndoesDowncast) {
  for_all("upcast(downcast(a,n),n) == a", [] {
    const Layout a = random_layout();
    const index_t n = pick(1, 8);
    RC_ASSERT(upcast(downcast(a, n), n) == a);
  });
}

TEST(Cast, UpcastAddressesTheWideElementThatHoldsTheNarrowOne) {
  for_all("upcast(a,n)(i,j) == a(n i,j) / n", [] {
    const index_t n = index_t{1} << pick(0, 3), m = n * pick(1, 4);
    const Layout a(tuple(m, pick(1, 5)), tuple(1, m * pick(1, 3)));
    const Layout wide = upcast(a, n);
    RC_ASSERT(wide.size() * n == a.size());
    for (index_t i = 0; i < m / n; ++i)
      for (index_t j = 0; j < a.mode(1).size(); ++j) RC_ASSERT(wide(i, j) == a(n * i, j) / n);
  });
}

TEST(Order, CompactOrderIsAPermutationInTheGivenOrder) {
  for_all("make_ordered_layout is compact, smallest order first", [] {
    const IntTuple shape = random_shape();
    const IntTuple order = with_leaves(shape, [](int) { return pick(0, 3); });
    const Layout a = make_ordered_layout(shape, order);
    const std::vector<index_t> all = sorted_indices(a);
    for (std::size_t i = 0; i < all.size(); ++i) RC_ASSERT(all[i] == static_cast<index_t>(i));
    for (int k = 0; k < shape.leaves(); ++k)
      for (int j = 0; j < shape.leaves(); ++j)
        if (order.leaf(k) < order.leaf(j)) RC_ASSERT(a.stride.leaf(k) <= a.stride.leaf(j));
  });
  EXPECT_EQ(compact_order(tuple(2, tuple(3, 4)), tuple(1, 0)), tuple(12, tuple(1, 3)));
}

TEST(Transpose, SwapsTheCoordinates) {
  for_all("transpose(a)(j,i) == a(i,j)", [] {
    const Layout a(tuple(pick(1, 6), pick(1, 6)), tuple(pick(0, 9), pick(0, 9)));
    const Layout t = transpose(a);
    for (index_t i = 0; i < a.mode(0).size(); ++i)
      for (index_t j = 0; j < a.mode(1).size(); ++j) RC_ASSERT(t(j, i) == a(i, j));
    RC_ASSERT(transpose(t) == a);
  });
}

TEST(Expand, RefinesTheShapeAndKeepsTheFunction) {
  EXPECT_EQ(expand_modes(Layout(12, 2), tuple(3, 4)), Layout(tuple(3, 4), tuple(2, 6)));
  EXPECT_EQ(expand_modes(Layout(tuple(4, 6), tuple(6, 1)), tuple(4, tuple(2, 3))),
            Layout(tuple(4, tuple(2, 3)), tuple(6, tuple(1, 2))));
  EXPECT_THROW(expand_modes(Layout(12, 2), tuple(3, 5)), Error);
}

TEST(Predicates, SayWhatTheStridesSay) {
  EXPECT_TRUE(is_row_major(row_major(3, tuple(2, 4))));
  EXPECT_FALSE(is_row_major(col_major(3, 2)));
  EXPECT_FALSE(is_row_major(Layout(tuple(3, 2), tuple(4, 1))));
  EXPECT_TRUE(is_row_major(Layout(tuple(3, 1, 2), tuple(2, 77, 1))));
  EXPECT_TRUE(is_row_major(row_major(dynamic, 8)));
  EXPECT_FALSE(is_row_major(row_major(8, dynamic)));
  EXPECT_TRUE(is_contiguous_dim(row_major(3, 4), 1));
  EXPECT_FALSE(is_contiguous_dim(row_major(3, 4), 0));
  EXPECT_TRUE(is_contiguous_dim(row_major(3, tuple(2, 4)), 0) == false);
  EXPECT_TRUE(is_contiguous_dim(Layout(tuple(3, tuple(2, 4)), tuple(8, tuple(1, 2))), 1));
}

TEST(Dynamic, PropagatesWhereTheResultCanBeStated) {
  const index_t d = dynamic;
  EXPECT_EQ(row_major(d, 8), Layout(tuple(d, 8), tuple(8, 1)));
  EXPECT_EQ(row_major(8, d), Layout(tuple(8, d), tuple(d, 1)));
  EXPECT_EQ(zipped_divide(row_major(d, 64), tuple(16, 8)),
            Layout(tuple(tuple(16, 8), tuple(d, 8)), tuple(tuple(64, 1), tuple(1024, 8))));
  EXPECT_EQ(zipped_divide(Layout(tuple(d, d), tuple(d, 1)), tuple(16, 8)),
            Layout(tuple(tuple(16, 8), tuple(d, d)), tuple(tuple(d, 1), tuple(d, 8))));
  EXPECT_EQ(coalesce(row_major(d, 8)), row_major(d, 8));
  EXPECT_EQ(row_major(d, 8).size(), d);
  EXPECT_EQ(row_major(d, 8)(3, 2), 26);
  EXPECT_FALSE(is_static(row_major(d, 8)));
  EXPECT_EQ(upcast(row_major(d, 8), 4), Layout(tuple(d, 2), tuple(2, 1)));
  EXPECT_EQ(right_inverse(col_major(4, d)), Layout(d, 1));
  EXPECT_THROW(row_major(8, d)(1, 2), Error);
  EXPECT_THROW(row_major(d, 8)(5), Error);
  EXPECT_THROW(composition(row_major(d, 8), Layout(4, 2)), Error);
  EXPECT_THROW(complement(row_major(d, 8), 24), Error);
}

TEST(Empty, ExtentsOfZeroAreLayoutsWithoutCoordinates) {
  EXPECT_EQ(row_major(0, 4).size(), 0);
  EXPECT_EQ(row_major(0, 4).cosize(), 0);
  EXPECT_EQ(row_major(4, 0).cosize(), 0);
  EXPECT_EQ(zipped_divide(row_major(0, 4), tuple(2, 2)).size(), 0);
  EXPECT_EQ(coalesce(row_major(3, 0)).size(), 0);
  EXPECT_EQ(composition(row_major(0, 4), Layout(3, 1)).size(), 3);
}

}  // namespace
}  // namespace tessera
