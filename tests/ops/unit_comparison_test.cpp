// What a report says of results that follow the arithmetic of matrix units, another rule, or none:
// the comparison that runs on a GPU, with results made here.
#include "support/unit_comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto kUnit = MatrixUnit::sm_90_warpgroup;

template <class In>
struct UnitRules : public ::testing::Test {
  static constexpr int K = 32 / static_cast<int>(sizeof(In));
  using Comparison = UnitComparison<kUnit, In, float, K>;

  /// The report of results by `sum`, of operands that tell rules apart.
  template <class Sum>
  static UnitReport report(const Sum& sum) {
    Comparison comparison(Operands::near, 64, 4);
    for (std::size_t i = 0; i < comparison.d.size(); ++i)
      comparison.d[i] = sum(i, comparison.c[i], comparison.row(i), comparison.column(i));
    return comparison.report();
  }
};
using Inputs = ::testing::Types<f16, bf16, f8e4m3, f8e5m2>;
TYPED_TEST_SUITE(UnitRules, Inputs);

TYPED_TEST(UnitRules, TheirOwnArithmeticDiffersNowhere) {
  const UnitReport found = TestFixture::report([](auto, float c, const auto* a, const auto* b) {
    return sum_of_products<kUnit, TestFixture::K>(c, a, b);
  });
  EXPECT_EQ(found.compared, 64 * 8 * 4);
  EXPECT_EQ(found.different, 0) << found.text;
  EXPECT_EQ(found.text, "");
}

TYPED_TEST(UnitRules, AnotherRuleThatAllResultsFollowIsNamed) {
  int told_apart = 0;
  for (std::size_t rule = 0; rule < kOtherRules.size(); ++rule) {
    const UnitReport found =
        TestFixture::report([rule](auto, float c, const auto* a, const auto* b) {
          return sum_by_rule<kUnit, TypeParam, TestFixture::K>(rule, c, a, b);
        });
    if (found.different == 0) continue;  // these operands do not tell it from the expected one
    ++told_apart;
    EXPECT_THAT(found.text, HasSubstr("    it is: ")) << kOtherRules[rule];
    EXPECT_THAT(found.text, HasSubstr(kOtherRules[rule]));
  }
  EXPECT_GE(told_apart, 5);
}

TYPED_TEST(UnitRules, ASingleOtherBitFollowsNone) {
  const UnitReport found = TestFixture::report([](auto i, float c, const auto* a, const auto* b) {
    const float sum = sum_of_products<kUnit, TestFixture::K>(c, a, b);
    return i == 77 ? -sum - 1 : sum;
  });
  EXPECT_EQ(found.different, 1);
  EXPECT_THAT(found.text, HasSubstr("none of the known rules"));
  EXPECT_THAT(found.text, HasSubstr("element 77: got "));
  EXPECT_THAT(found.text, Not(HasSubstr("it is:")));
}

}  // namespace
}  // namespace tessera::testing
