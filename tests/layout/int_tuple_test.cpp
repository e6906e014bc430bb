#include "tessera/layout/int_tuple.hpp"

#include <gmock/gmock.h>

#include "layout/support.hpp"

namespace tessera {
namespace {

using namespace testing_layouts;

TEST(IntTuple, ModesPutTogetherAgainAreTheTuple) {
  for_all("tuple(mode(0), mode(1), ...) == t", [] {
    const IntTuple t = random_shape(16);
    if (t.is_leaf()) return;
    TupleBuilder again;
    int leaves = 0;
    for (int m = 0; m < t.rank(); ++m) {
      RC_ASSERT(t.mode_begin(m) == leaves);
      RC_ASSERT(t.mode(m) == t[m]);
      leaves += t.mode(m).leaves();
      again.push(t.mode(m));
    }
    RC_ASSERT(again.done() == t);
    RC_ASSERT(t.mode_begin(t.rank()) == t.leaves());
    RC_ASSERT(leaves == t.leaves());
    RC_ASSERT(flatten(t).rank() == t.leaves());
    RC_ASSERT(product_each(t).product() == t.product());
    RC_ASSERT(reverse(reverse(t)) == t);
    RC_ASSERT(compatible(IntTuple(t.product()), t));
    RC_ASSERT(compatible(product_each(t), t));
    RC_ASSERT(compatible(t, t));
    RC_ASSERT(weakly_congruent(product_each(t), t));
    RC_ASSERT(congruent(t, fill_like(t, 7)));
    RC_ASSERT(t.depth() >= 1);
  });
}

TEST(IntTuple, PositionsAndCoordinatesAreInverse) {
  for_all("crd2idx(idx2crd(i)) == i in column-major strides", [] {
    const IntTuple shape = random_shape();
    const IntTuple stride = prefix_product(shape);
    for (index_t i = 0; i < shape.product(); ++i) {
      RC_ASSERT(crd2idx(idx2crd(i, shape), shape, stride) == i);
      RC_ASSERT(idx2crd(i, shape, stride) == idx2crd(i, shape));
    }
  });
}

TEST(IntTuple, BracketsAroundOneNumberVanishAroundATupleTheyStay) {
  EXPECT_EQ(tuple(4), IntTuple(4));
  EXPECT_EQ(tuple(tuple(4)), IntTuple(4));
  EXPECT_EQ(tuple(tuple(2, 3)).rank(), 1);
  EXPECT_EQ(tuple(tuple(2, 3))[0], tuple(2, 3));
  EXPECT_NE(tuple(tuple(2, 3)), tuple(2, 3));
  EXPECT_EQ(IntTuple(4).rank(), 1);
  EXPECT_EQ(IntTuple(4)[0], IntTuple(4));
  EXPECT_EQ(tuple(2, tuple(3, tuple(4, 5))).depth(), 3);
  EXPECT_EQ(IntTuple(4).depth(), 0);
}

TEST(IntTuple, OperationsOnModes) {
  EXPECT_EQ(append(tuple(2, 3), tuple(4, 5)), tuple(2, 3, tuple(4, 5)));
  EXPECT_EQ(extend(tuple(2, 3), tuple(4, 5)), tuple(2, 3, 4, 5));
  EXPECT_EQ(replace(tuple(2, tuple(3, 4)), 1, 9), tuple(2, 9));
  EXPECT_EQ(zip(tuple(1, 2), tuple(3, 4)), tuple(tuple(1, 3), tuple(2, 4)));
  EXPECT_EQ(sorted(tuple(3, tuple(1, 2))), tuple(1, 2, 3));
  EXPECT_EQ(sum(tuple(3, tuple(1, 2))), 6);
  EXPECT_EQ(max(tuple(3, tuple(1, 2))), 3);
  EXPECT_EQ(min(tuple(3, tuple(1, 2))), 1);
  EXPECT_EQ(inner_product(tuple(2, tuple(3, 4)), tuple(5, tuple(6, 7))), 56);
  EXPECT_EQ(prefix_product(tuple(3, tuple(2, 4))), tuple(1, tuple(3, 6)));
  EXPECT_EQ(reverse(tuple(1, tuple(2, 3))), tuple(tuple(3, 2), 1));
  EXPECT_EQ(to_dynamic(tuple(1, 2)), tuple(dynamic, dynamic));
  EXPECT_TRUE(weakly_compatible(tuple(2, 3), tuple(4, tuple(3, 2))));
  EXPECT_FALSE(weakly_compatible(tuple(2, 4), tuple(4, tuple(3, 2))));
}

TEST(IntTuple, ShapeDivisionUsesUpTheFirstModes) {
  EXPECT_EQ(shape_div(tuple(3, 4), 6), tuple(1, 2));
  EXPECT_EQ(shape_div(tuple(8, 4), tuple(2, 8)), tuple(4, 1));
  EXPECT_EQ(shape_div(12, 3), 4);
  EXPECT_EQ(shape_div(3, 12), 1);
  EXPECT_THROW(shape_div(12, 5), Error);
  EXPECT_THROW(shape_div(tuple(2, 3), tuple(2, 3, 4)), Error);
}

TEST(IntTuple, LimitsAreRefusedNotExceeded) {
  const IntTuple eight = tuple(1, 2, 3, 4, 5, 6, 7, 8);
  EXPECT_EQ(extend(eight, eight).leaves(), 16);
  EXPECT_THROW(append(extend(eight, eight), 1), Error);
  EXPECT_THROW(tuple(2, 3).mode(2), Error);
  EXPECT_THROW(tuple(2, 3).mode(-1), Error);
  EXPECT_THROW(tuple(2, 3).value(), Error);
  IntTuple deep = tuple(1, 2);
  for (int i = 0; i < 14; ++i) deep = tuple(deep);
  EXPECT_EQ(deep.depth(), 15);
  EXPECT_THROW(tuple(deep), Error);
  // Sixteen leaves and fifteen levels at once.
  IntTuple stairs = tuple(1, 2);
  for (int i = 0; i < 14; ++i) stairs = tuple(stairs, i);
  EXPECT_EQ(stairs.leaves(), 16);
  for (int i = 13; i >= 0; --i) {
    EXPECT_EQ(stairs[1], IntTuple(i));
    stairs = stairs[0];
  }
  EXPECT_EQ(stairs, tuple(1, 2));
}

TEST(IntTuple, OverflowIsRefused) {
  const index_t big = index_t{1} << 62;
  EXPECT_THROW(tuple(big, 2).product(), Error);
  EXPECT_THROW(tuple(-big, 2).product(), Error);
  EXPECT_EQ(tuple(big, 1).product(), big);
  EXPECT_THROW(checked_add(big, big), Error);
  EXPECT_THROW(checked_add(-big, -big), Error);
  EXPECT_EQ(checked_add(big, -big), 0);
  EXPECT_THROW(checked_mul(std::numeric_limits<index_t>::min(), 1), Error);
  EXPECT_THROW(row_major(big, 4), Error) << "the stride fits, the size would not";
}

}  // namespace
}  // namespace tessera
