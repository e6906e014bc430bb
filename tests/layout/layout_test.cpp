// Layouts as template arguments, and what is refused at run time with both layouts named.
#include "tessera/layout/layout.hpp"

#include <gmock/gmock.h>

#include "layout/support.hpp"

namespace tessera {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

template <Layout L>
struct Fixed {
  static constexpr Layout layout = L;
  static index_t at(index_t i, index_t j) { return L(i, j); }
  static index_t unrolled(index_t i, index_t j) { return index_of<L>(i, j); }
  static index_t linear(index_t i) { return index_of<L>(i); }
};
template <ComposedLayout C>
index_t composed_at(index_t i, index_t j) {
  return C(i, j);
}
template <Tiler T>
constexpr Layout tiled_by(const Layout& layout) {
  return zipped_divide(layout, T);
}

template <Layout L>
void expect_template_argument_agrees() {
  const Layout at_run_time = L;
  for (index_t i = 0; i < L.mode(0).size(); ++i)
    for (index_t j = 0; j < L.mode(1).size(); ++j) {
      EXPECT_EQ(Fixed<L>::at(i, j), at_run_time(i, j));
      EXPECT_EQ(Fixed<L>::unrolled(i, j), at_run_time(i, j));
      EXPECT_EQ(Fixed<L>::linear(i + j * L.mode(0).size()), at_run_time(i, j));
    }
}

TEST(LayoutAsTemplateArgument, GivesTheSameIndices) {
  expect_template_argument_agrees<row_major(5, 7)>();
  expect_template_argument_agrees<col_major(5, 7)>();
  expect_template_argument_agrees<row_major(tuple(2, 3), tuple(4, tuple(2, 2)))>();
  expect_template_argument_agrees<zipped_divide(row_major(8, 12), tuple(4, 3))>();
  expect_template_argument_agrees<Layout(tuple(3, tuple(1, 4)), tuple(-2, tuple(9, 0)))>();
}

TEST(LayoutAsTemplateArgument, NamesOneTypePerValue) {
  EXPECT_TRUE((std::is_same_v<Fixed<row_major(4, 8)>, Fixed<Layout(tuple(4, 8), tuple(8, 1))>>));
  EXPECT_TRUE((std::is_same_v<Fixed<coalesce(row_major(4, 8))>, Fixed<row_major(4, 8)>>));
  EXPECT_FALSE((std::is_same_v<Fixed<row_major(4, 8)>, Fixed<col_major(4, 8)>>));
  EXPECT_TRUE((std::is_same_v<Fixed<tuple(2, 3).with_leaf(0, 4)>, Fixed<Layout(tuple(4, 3))>>));
}

TEST(LayoutAsTemplateArgument, SwizzledAndTilersToo) {
  constexpr ComposedLayout kSwizzled = composition(Swizzle(2, 0, 3), row_major(4, 8));
  EXPECT_EQ((composed_at<kSwizzled>(1, 0)), 9);
  EXPECT_EQ((tiled_by<tiler(Layout(2), Layout(2))>(row_major(4, 4))),
            Layout(tuple(tuple(2, 2), tuple(2, 2)), tuple(tuple(4, 1), tuple(8, 2))));
}

TEST(LayoutAsTemplateArgument, DynamicStridesAreNeededOnlyWhereUsed) {
  EXPECT_EQ((Fixed<row_major(dynamic, 8)>::at(3, 2)), 26);
  EXPECT_EQ((Fixed<row_major(dynamic, 8)>::unrolled(3, 2)), 26);
}

template <class F>
std::string message(F&& refused) {
  try {
    refused();
  } catch (const Error& error) {
    EXPECT_EQ(error.category(), Category::shape);
    return error.what();
  }
  return "was not refused";
}

TEST(Refusal, NamesBothLayouts) {
  EXPECT_THAT(message([] { composition(Layout(tuple(4, 6), tuple(1, 8)), Layout(3, 3)); }),
              AllOf(HasSubstr("3:3"), HasSubstr("(4,6):(1,8)"), HasSubstr("stride")));
  EXPECT_THAT(message([] { composition(Layout(tuple(4, 6), tuple(1, 8)), Layout(6, 1)); }),
              AllOf(HasSubstr("6:1"), HasSubstr("(4,6):(1,8)"), HasSubstr("extent")));
  EXPECT_THAT(message([] {
                composition(Layout(tuple(4, 6), tuple(1, 8)), Layout(tuple(4, 2), tuple(1, 1)));
              }),
              AllOf(HasSubstr("(4,2):(1,1)"), HasSubstr("(4,6):(1,8)"), HasSubstr("add up")));
  EXPECT_THAT(message([] { Layout(tuple(2, 3), tuple(1)); }),
              AllOf(HasSubstr("(2,3)"), HasSubstr("stride 1")));
  EXPECT_THAT(message([] { zipped_divide(row_major(4, 4), tuple(2, 2, 2)); }),
              AllOf(HasSubstr("(2,2,2)"), HasSubstr("(4,4):(4,1)")));
  EXPECT_THAT(message([] { zipped_divide(row_major(8), tiler(Layout(2), Layout(2))); }),
              AllOf(HasSubstr("<2:1,2:1>"), HasSubstr("8:1")));
  EXPECT_THAT(message([] { tile_to_shape(row_major(2, 5), tuple(6, 21)); }),
              AllOf(HasSubstr("(2,5):(5,1)"), HasSubstr("(6,21)")));
  EXPECT_THAT(message([] { row_major(4, 8)(1, 2, 3); }), HasSubstr("(4,8):(8,1)"));
  EXPECT_THAT(message([] { row_major(4, 8)(tuple(1, tuple(1, 2))); }), HasSubstr("(1,2)"));
  EXPECT_THAT(message([] { Layout(tuple(2, -3)); }), HasSubstr("(2,-3)"));
  EXPECT_THAT(message([] { left_inverse(Layout(tuple(2, 2), tuple(2, 5))); }),
              AllOf(HasSubstr("(2,2):(2,5)"),
                    HasSubstr("each stride must be a multiple of the next smaller one")));
  EXPECT_THAT(message([] { left_inverse(Layout(tuple(2, 8, 1), tuple(6, 16, 4))); }),
              HasSubstr("(2,8,1):(6,16,4)"));
  EXPECT_THAT(message([] { upcast(row_major(4, 8), 0); }), HasSubstr("(4,8):(8,1)"));
}

TEST(Refusal, NamesTheFunctionThatWasCalled) {
  const Layout square = row_major(4, 4), twice(tuple(3, 3), tuple(1, 1)), by(4);
  const auto names = [&](auto&& refused, const char* function) {
    EXPECT_THAT(message(refused), StartsWith(function));
    EXPECT_THAT(message(refused), HasSubstr("of (4,4):(4,1) and (3,3):(1,1): two coordinates"));
  };
  names([&] { logical_divide(square, twice); }, "logical_divide of ");
  names([&] { zipped_divide(square, twice); }, "zipped_divide of ");
  names([&] { tiled_divide(square, twice); }, "tiled_divide of ");
  names([&] { flat_divide(square, twice); }, "flat_divide of ");
  EXPECT_THAT(message([&] { logical_divide(square, Layout(3)); }),
              StartsWith("logical_divide of (4,4):(4,1) and 3:1: a stride of (3,6):(1,3) cuts"));
  EXPECT_THAT(message([&] { logical_product(twice, by); }),
              StartsWith("logical_product of (3,3):(1,1) and 4:1: two coordinates of"));
  EXPECT_THAT(message([&] { blocked_product(twice, by); }),
              StartsWith("blocked_product of (3,3):(1,1) and 4:1: two coordinates of"));
  EXPECT_THAT(message([&] { raked_product(twice, by); }), StartsWith("raked_product of "));
  EXPECT_THAT(message([&] { left_inverse(twice); }),
              StartsWith("left_inverse: two coordinates of (3,3):(1,1)"));
  EXPECT_THAT(message([&] { complement(twice, 8); }), StartsWith("complement: two coordinates"));
  EXPECT_THAT(message([] { upcast(Layout(4, 3), 2); }), StartsWith("upcast: 4:3 "));
  EXPECT_THAT(message([] { upcast(Layout(3, 1), 2); }), StartsWith("upcast: 3:1 "));
  EXPECT_THAT(message([] { downcast(Layout(3, 1), 0); }),
              StartsWith("downcast: the factor for 3:1"));
  EXPECT_THAT(message([] { row_major(2, 3).mode(5); }), HasSubstr("(2,3):(3,1) has no mode 5"));
}

}  // namespace
}  // namespace tessera
