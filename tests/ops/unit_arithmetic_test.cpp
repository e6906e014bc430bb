// The arithmetic of matrix units: cases worked out by hand from the published rules, and random
// operands against a slow reference in doubles that shares nothing with it but these rules.
#include "tessera/ops/unit_arithmetic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "support/unit_operands.hpp"

namespace tessera {
namespace {

using testing::DrawOperands;
using testing::Operands;

constexpr auto kOld = MatrixUnit::sm_80, kNew = MatrixUnit::sm_90;
constexpr auto kGroup = MatrixUnit::sm_90_warpgroup;

/// c + x[0] y[0] + x[1] y[1] + ..., the other products zero.
template <MatrixUnit U, class In, int K>
constexpr float sum(float c, std::initializer_list<float> x, std::initializer_list<float> y) {
  In a[K]{}, b[K]{};
  std::transform(x.begin(), x.end(), a, [](float each) { return In(each); });
  std::transform(y.begin(), y.end(), b, [](float each) { return In(each); });
  return sum_of_products<U, K>(c, a, b);
}
constexpr std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }
constexpr float infinity = std::numeric_limits<float>::infinity();

// Known when compiled.
static_assert(sum<kNew, f16, 16>(1, {3, 5}, {7, 11}) == 77);
static_assert(sum_of_products<kNew, 2>(2.0, std::array{1.5, 2.0}.data(),
                                       std::array{3.0, 4.0}.data()) == 14.5);

TEST(UnitArithmetic, KeepsSoManyFractionBitsOfEachTerm) {
  constexpr float small = 0x1p-12f, less = 0x1p-13f;
  // Four products of 2^-25 beside 1: sm_90 keeps them, and sm_80 none.
  const auto four = [&](auto unit) {
    return sum<decltype(unit)::value, f16, 8>(1, {small, small, small, small},
                                              {less, less, less, less});
  };
  EXPECT_EQ(four(std::integral_constant<MatrixUnit, kNew>()), 1 + 0x1p-23f);
  EXPECT_EQ(four(std::integral_constant<MatrixUnit, kOld>()), 1);
  // 2^-24 twice: both keep that. 2^-26 eight times: nobody does.
  EXPECT_EQ((sum<kOld, f16, 8>(1, {small, small}, {small, small})), 1 + 0x1p-23f);
  const std::initializer_list<float> eight = {less, less, less, less, less, less, less, less};
  EXPECT_EQ((sum<kNew, f16, 8>(1, eight, eight)), 1);
  // f8 of a warpgroup: 13 bits, of the terms and of the sum.
  EXPECT_EQ((sum<kGroup, f8e5m2, 32>(1, {0x1p-6f}, {0x1p-7f})), 1 + 0x1p-13f);
  EXPECT_EQ((sum<kGroup, f8e5m2, 32>(1, {0x1p-7f, 0x1p-7f}, {0x1p-7f, 0x1p-7f})), 1);
  EXPECT_EQ((sum<kGroup, f8e4m3, 32>(1 + 0x1p-14f, {}, {})), 1);
}

TEST(UnitArithmetic, CutsOffTowardZero) {
  EXPECT_EQ((sum<kNew, f16, 16>(1, {-0x1p-12f}, {0x1p-13f})), 1 - 0x1p-24f);  // nearest: 1
  EXPECT_EQ((sum<kNew, f16, 16>(-1, {0x1p-12f}, {0x1p-13f})), -1 + 0x1p-24f);
  EXPECT_EQ((sum<kNew, bf16, 16>(1, {0x1.8p-12f}, {0x1p-12f})), 1);  // nearest: more
  EXPECT_EQ((sum<kNew, bf16, 16>(1, {-0x1p-13f}, {0x1p-13f})), 1);   // gone before it is added
  // A product is not normalised: 1.5 * 1.5 = 2.25 has the exponent of 1, and lets 2^-25 through.
  EXPECT_EQ((sum<kNew, f16, 16>(0, {1.5f, -1.5f, 0x1p-12f}, {1.5f, 1.5f, 0x1p-13f})), 0x1p-25f);
  EXPECT_EQ((sum<kNew, f16, 16>(0, {2, -2, 0x1p-12f}, {1, 1, 0x1p-13f})), 0);
}

TEST(UnitArithmetic, TakesTf32OperandsByTheirFirstBits) {
  EXPECT_EQ((sum<kNew, float, 8>(0, {1 + 0x1.ffcp-11f}, {1})), 1);
  EXPECT_EQ((sum<kNew, float, 8>(0, {-1 - 0x1.8p-10f}, {1})), -1 - 0x1p-10f);
  EXPECT_EQ((sum<kNew, float, 8>(0, {std::bit_cast<float>(0x1fffu)}, {0x1p127f})), 0);
  EXPECT_EQ((sum<kNew, float, 8>(0, {std::bit_cast<float>(0x7f800001u)}, {1})), infinity);
}

TEST(UnitArithmetic, RoundsAreSummedOneAfterTheOther) {
  // 2^30 - 2^30 + 2^-10, the last in the second half: sm_80 has forgotten the first half by then.
  const std::initializer_list<float> x = {32768, -32768, 0, 0, 0, 0, 0, 0, 0x1p-5f},
                                     y = {32768, 32768, 0, 0, 0, 0, 0, 0, 0x1p-5f};
  EXPECT_EQ((sum<kOld, f16, 16>(0, x, y)), 0x1p-10f);
  EXPECT_EQ((sum<kNew, f16, 16>(0, x, y)), 0);
  const std::initializer_list<float> four = {32768, -32768, 0, 0, 0x1p-5f};
  EXPECT_EQ((sum<kOld, float, 8>(0, four, {32768, 32768, 0, 0, 0x1p-5f})), 0x1p-10f);
}

TEST(UnitArithmetic, F8OfAWarpIsF16) {
  // Of each four neighbours the first two, then the others, then C.
  EXPECT_EQ((sum<kNew, f8e4m3, 32>(0, {256, -256, 0x1p-6f}, {256, 256, 0x1p-6f})), 0x1p-12f);
  EXPECT_EQ((sum<kNew, f8e4m3, 32>(0, {256, -256, 0, 0, 0x1p-6f}, {256, 256, 0, 0, 0x1p-6f})), 0);
  EXPECT_EQ((sum<kGroup, f8e4m3, 32>(0, {256, -256, 0x1p-6f}, {256, 256, 0x1p-6f})), 0);
  EXPECT_EQ((sum<kNew, f8e5m2, 32>(1, {0x1.8p-12f}, {0x1p-12f})), 1 + 0x1p-23f);  // to nearest
  EXPECT_EQ(bits(sum<kNew, f8e4m3, 32>(std::bit_cast<float>(0x7fc12345u), {}, {})), 0x7fffffffu);
}

TEST(UnitArithmetic, InfinitiesNansAndZeros) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ((sum<kNew, f16, 16>(1, {infinity}, {-2})), -infinity);
  EXPECT_EQ((sum<kNew, bf16, 16>(infinity, {3}, {-2})), infinity);
  EXPECT_EQ(bits(sum<kNew, f16, 16>(0, {infinity, infinity}, {1, -1})), 0x7fffffffu);
  EXPECT_EQ(bits(sum<kNew, f16, 16>(-infinity, {infinity}, {1})), 0x7fffffffu);
  EXPECT_EQ(bits(sum<kNew, f16, 16>(0, {infinity}, {0})), 0x7fffffffu);
  EXPECT_EQ(bits(sum<kNew, bf16, 16>(0, {-nan}, {0})), 0x7fffffffu);
  EXPECT_EQ(bits(sum<kNew, bf16, 16>(-nan, {}, {})), 0x7fffffffu);
  EXPECT_EQ(bits(sum<kGroup, f8e4m3, 32>(0, {nan}, {1})), 0x7fffffffu);
  EXPECT_EQ((sum<kGroup, f8e4m3, 32>(0, {448}, {448})), 200704);  // all ones but the last: no NaN
  EXPECT_EQ(bits(sum<kNew, f16, 16>(-0.0f, {-0.0f}, {1})), 0u);
  EXPECT_EQ(bits(sum<kNew, f16, 16>(-3, {3}, {1})), 0u);
}

TEST(UnitArithmetic, OverflowsToInfinityAndKeepsSubnormals) {
  const float largest = std::numeric_limits<float>::max();
  EXPECT_EQ((sum<kNew, bf16, 16>(0, {0x1p64f}, {0x1p64f})), infinity);
  EXPECT_EQ((sum<kNew, bf16, 16>(0, {-0x1.8p127f}, {0x1.8p127f})), -infinity);
  EXPECT_EQ((sum<kNew, bf16, 16>(largest, {0x1p51f}, {0x1p51f})), largest);  // cut off
  EXPECT_EQ((sum<kNew, bf16, 16>(largest, {0x1p52f}, {0x1p52f})), infinity);
  EXPECT_EQ((sum<kNew, bf16, 16>(0x1p-149f, {}, {})), 0x1p-149f);
  EXPECT_EQ((sum<kNew, bf16, 16>(0x1p-149f, {0x1p-75f}, {0x1p-74f})), 0x1p-148f);
  EXPECT_EQ(bits(sum<kNew, bf16, 16>(0, {-0x1p-75f}, {0x1p-75f})), 0u);
  EXPECT_EQ((sum<kNew, bf16, 16>(0, {0x1.8p-75f}, {0x1p-74f})), 0x1p-149f);
  EXPECT_EQ((sum<kNew, f16, 16>(0, {0x1p-24f}, {0x1p-24f})), 0x1p-48f);
  // Nothing is aligned to a product with a zero.
  EXPECT_EQ((sum<kNew, bf16, 16>(0x1p-24f, {0}, {0x1p127f})), 0x1p-24f);
  EXPECT_EQ((sum<kNew, bf16, 16>(0x1p-100f, {0}, {0x1p127f})), 0x1p-100f);
}

TEST(UnitArithmetic, IntegersWrapAndF64IsAChain) {
  const std::vector<std::int8_t> low(32, -128);
  const std::int32_t most = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ((sum_of_products<kNew, 32>(most, low.data(), low.data())),
            std::numeric_limits<std::int32_t>::min() + 32 * 128 * 128 - 1);
  EXPECT_EQ((sum_of_products<kOld, 32>(1, low.data(), low.data())), 32 * 128 * 128 + 1);
  const std::vector<std::uint8_t> high(32, 255);
  EXPECT_EQ((sum_of_products<kOld, 32>(-5, high.data(), high.data())), 32 * 255 * 255 - 5);
  EXPECT_EQ((sum_of_products<kGroup, 32>(-5, high.data(), high.data())), 32 * 255 * 255 - 5);
  const double a[] = {0x1p30, -0x1p30, 1}, b[] = {0x1p30, 0x1p30, 0x1p-60};
  EXPECT_EQ((sum_of_products<kOld, 3>(0.0, a, b)), 0x1p-60);
  EXPECT_EQ((sum_of_products<kNew, 3>(0.0, a, b)), 0x1p-60);
  EXPECT_EQ((sum_of_products<kNew, 2>(1.0, a, b)), 0);
}

/// significand * 2^exponent, the significand below 2, below 1 where the exponent is the smallest.
struct Parts {
  double significand;
  int exponent;
  Parts(double value, int smallest, int zero = -1000)
      : exponent(value == 0 ? zero : std::max(std::ilogb(value), smallest)) {
    significand = std::ldexp(value, -exponent);
  }
};
/// The published rules in doubles, which hold every number here exactly.
float in_doubles(float c, const std::vector<double>& a, const std::vector<double>& b, int smallest,
                 int fraction, int result) {
  double plain = c;
  for (std::size_t k = 0; k < a.size(); ++k) plain += a[k] * b[k];
  if (std::isnan(plain)) return std::bit_cast<float>(0x7fffffffu);
  if (std::isinf(plain)) return static_cast<float>(plain);
  std::vector<Parts> terms = {Parts(c, -126, -126)};
  for (std::size_t k = 0; k < a.size(); ++k) {
    Parts x(a[k], smallest);
    const Parts y(b[k], smallest);
    x.significand *= y.significand, x.exponent += y.exponent;
    terms.push_back(x);
  }
  const int largest = std::ranges::max_element(terms, {}, &Parts::exponent)->exponent;
  double total = 0;
  for (const Parts& each : terms)
    total += std::trunc(std::ldexp(each.significand, fraction + each.exponent - largest));
  const Parts sum(std::ldexp(total, largest - fraction), -126);
  const double cut = std::trunc(std::ldexp(sum.significand, result));
  return cut == 0 ? 0 : static_cast<float>(std::ldexp(cut, sum.exponent - result));
}

/// The same with the operands of one element of D, in the order of the instruction.
template <MatrixUnit U, class In>
float reference(float c, const std::vector<In>& a, const std::vector<In>& b) {
  const auto cut = [](In value) {
    if constexpr (sizeof(In) == 4) return std::bit_cast<float>(bits(value) & ~0x1fffu);
    else return static_cast<float>(value);
  };
  constexpr bool is_half = std::is_same_v<In, f16>, is_f8 = sizeof(In) == 1;
  constexpr int smallest = sizeof(In) == 4 || std::is_same_v<In, bf16> ? -126
                           : is_half || std::is_same_v<In, f8e5m2>     ? -14
                                                                       : -6;
  const auto part = [&](float addend, auto is_taken, int lowest, int fraction, int result) {
    std::vector<double> x, y;
    for (std::size_t k = 0; k < a.size(); ++k) {
      if (is_taken(k)) x.push_back(cut(a[k])), y.push_back(cut(b[k]));
    }
    return in_doubles(addend, x, y, lowest, fraction, result);
  };
  const auto all = [](std::size_t) { return true; };
  if (U == kOld) {
    const std::size_t depth = sizeof(In) == 4 ? 4 : 8;
    for (std::size_t begin = 0; begin < a.size(); begin += depth)
      c = part(
          c, [&](std::size_t k) { return k / depth * depth == begin; }, smallest, 24, 23);
    return c;
  }
  if (!is_f8) return part(c, all, smallest, 25, 23);
  if (U == kGroup) return part(c, all, smallest, 13, 13);
  float pairs = part(
      0, [](std::size_t k) { return k % 4 < 2; }, -14, 25, 23);
  pairs = part(
      pairs, [](std::size_t k) { return k % 4 >= 2; }, -14, 25, 23);
  return std::isnan(pairs + c) ? std::bit_cast<float>(0x7fffffffu) : pairs + c;
}

template <MatrixUnit U, class In, std::size_t K>
void expect_as_in_doubles(const char* name) {
  constexpr int kCount = 2000;
  for (std::size_t kind = 0; kind < testing::kOperandNames.size(); ++kind) {
    DrawOperands draw(static_cast<Operands>(kind), kind);
    std::vector<In> a(K), b(K);
    for (int i = 0; i < kCount; ++i) {
      draw.fill(a, false), draw.fill(b, true);
      const float c = draw.template addend<In, float>();
      ASSERT_EQ(bits(sum_of_products<U, static_cast<int>(K)>(c, a.data(), b.data())),
                bits(reference<U>(c, a, b)))
          << name << ", " << testing::kOperandNames[kind] << ", " << i;
    }
  }
}

TEST(UnitArithmetic, RandomOperandsGiveWhatTheRulesGiveInDoubles) {
  expect_as_in_doubles<kOld, float, 4>("sm_80 TF32 4");
  expect_as_in_doubles<kOld, float, 8>("sm_80 TF32 8");
  expect_as_in_doubles<kOld, f16, 16>("sm_80 f16 16");
  expect_as_in_doubles<kOld, bf16, 16>("sm_80 bf16 16");
  expect_as_in_doubles<kNew, float, 4>("TF32 4");
  expect_as_in_doubles<kNew, float, 8>("TF32 8");
  expect_as_in_doubles<kNew, f16, 8>("f16 8");
  expect_as_in_doubles<kNew, f16, 16>("f16 16");
  expect_as_in_doubles<kNew, bf16, 8>("bf16 8");
  expect_as_in_doubles<kNew, bf16, 16>("bf16 16");
  expect_as_in_doubles<kNew, f8e4m3, 32>("e4m3 of a warp");
  expect_as_in_doubles<kNew, f8e5m2, 32>("e5m2 of a warp");
  expect_as_in_doubles<kGroup, float, 8>("TF32 of a warpgroup");
  expect_as_in_doubles<kGroup, f16, 16>("f16 of a warpgroup");
  expect_as_in_doubles<kGroup, bf16, 16>("bf16 of a warpgroup");
  expect_as_in_doubles<kGroup, f8e4m3, 32>("e4m3 of a warpgroup");
  expect_as_in_doubles<kGroup, f8e5m2, 32>("e5m2 of a warpgroup");
}

}  // namespace
}  // namespace tessera
