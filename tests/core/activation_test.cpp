// GELU, SiLU and their exponential against the C library in double: every binade of f32, the
// limits, and precision at either end.
#include "tessera/core/activation.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace tessera {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Calls body(x) for some thousand floats of every binade and both signs.
template <class Body>
void for_each_float(Body&& body) {
  for (std::uint32_t bits = 0; bits < 0x7F800000u; bits += 1201) {
    body(std::bit_cast<float>(bits));
    body(std::bit_cast<float>(bits | 0x80000000u));
  }
}

/// |got - exact| in units of the last place of an f32 near exact; 0 where an exponential below the
/// normal numbers has rounded it, at most 100 of the smallest.
double error_in_ulp(float got, double exact) {
  if (std::fabs(static_cast<double>(got) - exact) < 100 * 0x1p-149) return 0;
  const float near = static_cast<float>(exact);
  const double ulp = std::isinf(near)
                         ? 1
                         : static_cast<double>(std::nextafter(std::fabs(near), kInfinity)) -
                               std::fabs(static_cast<double>(near));
  if (std::isinf(near) && got == near) return 0;
  return std::fabs(static_cast<double>(got) - exact) / ulp;
}

TEST(Activations, TheExponentialIsOffByLessThanTwoUnits) {
  for_each_float([](float x) {
    if (x > 88.7f) return;
    const double exact = std::exp(static_cast<double>(x));
    ASSERT_LE(error_in_ulp(detail::exp_f32(x), exact), 2) << x;
  });
  EXPECT_EQ(detail::exp_f32(kInfinity), kInfinity);
  EXPECT_EQ(detail::exp_f32(89.f), kInfinity);
  EXPECT_EQ(detail::exp_f32(-kInfinity), 0.f);
  EXPECT_TRUE(std::isnan(detail::exp_f32(kNan)));
}

TEST(Activations, GeluKeepsItsPrecisionInTheTail) {
  for_each_float([](float x) {
    const double wide = x, exact = wide * 0.5 * std::erfc(-wide * std::sqrt(0.5));
    ASSERT_LE(error_in_ulp(activate(Activation::gelu, x), exact), 6) << x;
  });
}

/// erfc(z) in long double is exact enough, and so is z.
TEST(Activations, GeluOfDoublesKeepsItsPrecisionInTheTail) {
  for (double x = -37.4; x < 8; x += 0.00731) {
    const long double wide = x, exact = wide / 2 * std::erfc(-wide * std::sqrt(0.5L));
    const double near = static_cast<double>(exact);
    const double unit = std::nextafter(std::fabs(near), kInfinity) - std::fabs(near);
    ASSERT_LE(std::fabs(static_cast<double>(activate(Activation::gelu, x) - exact)), 8 * unit) << x;
  }
}

TEST(Activations, SiluIsOffByAFewUnits) {
  for_each_float([](float x) {
    const double wide = x, exact = wide / (1 + std::exp(-wide));
    ASSERT_LE(error_in_ulp(activate(Activation::silu, x), exact), 4) << x;
  });
}

template <class T>
void expect_limits() {
  const T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  for (const Activation activation : {Activation::relu, Activation::gelu, Activation::silu}) {
    EXPECT_EQ(activate(activation, infinity), infinity);
    EXPECT_EQ(activate(activation, -infinity), T{0});
    EXPECT_EQ(activate(activation, std::numeric_limits<T>::lowest()), T{0});
    EXPECT_EQ(activate(activation, std::numeric_limits<T>::max()), std::numeric_limits<T>::max());
    EXPECT_EQ(activate(activation, T{0}), T{0});
    EXPECT_TRUE(std::isnan(activate(activation, nan)));
  }
  EXPECT_TRUE(std::isnan(clamp(nan, T{-1}, T{1})));
  EXPECT_EQ(clamp(T{3}, T{-1}, T{1}), T{1});
  EXPECT_EQ(clamp(-infinity, T{-1}, T{1}), T{-1});
  EXPECT_EQ(clamp(infinity, kLeast<T>, kMost<T>), infinity);
}
TEST(Activations, TheLimitsAreThoseOfTheFunctions) {
  expect_limits<float>();
  expect_limits<double>();
}

TEST(Activations, IntegersKnowReluAndClamp) {
  EXPECT_EQ(activate(Activation::relu, std::int32_t{-5}), 0);
  EXPECT_EQ(clamp(std::int32_t{-5}, kLeast<std::int32_t>, kMost<std::int32_t>), -5);
  EXPECT_EQ(clamp(std::int32_t{-5}, std::int32_t{-3}, kMost<std::int32_t>), -3);
}

}  // namespace
}  // namespace tessera
