// Every bit pattern of every small float is decoded and encoded against the definition of its
// format, computed here in f64 with ldexp.
#include "tessera/core/small_float.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace tessera {
namespace {

template <class T>
class SmallFloatOf : public testing::Test {
 public:
  static constexpr int kBits = 8 * static_cast<int>(sizeof(T));
  static constexpr unsigned kPatterns = 1u << kBits;
  static constexpr bool kFinite = std::is_same_v<T, f8e4m3>;

  static T from(unsigned pattern) { return T::from_bits(static_cast<decltype(T::bits)>(pattern)); }
  /// The value of a bit pattern by the definition of the format.
  static double value(unsigned pattern) {
    constexpr int E = T::exponent_bits, M = T::mantissa_bits;
    const double sign = (pattern >> (E + M)) != 0 ? -1 : 1;
    const unsigned exponent = pattern >> M & ((1u << E) - 1), mantissa = pattern & ((1u << M) - 1);
    const unsigned top = (1u << E) - 1;
    if (kFinite) {
      if (exponent == top && mantissa == (1u << M) - 1)
        return std::numeric_limits<double>::quiet_NaN();
    } else if (exponent == top) {
      return mantissa == 0 ? sign * std::numeric_limits<double>::infinity()
                           : std::numeric_limits<double>::quiet_NaN();
    }
    if (exponent == 0) return sign * std::ldexp(mantissa, 1 - T::bias - M);
    return sign * std::ldexp(mantissa + (1u << M), static_cast<int>(exponent) - T::bias - M);
  }
  /// The patterns of the numbers from 0 up to the largest, which follow each other as their bits
  /// do.
  static unsigned largest() {
    unsigned pattern = 0;
    while (std::isfinite(value(pattern + 1)) && pattern + 1 < kPatterns / 2) ++pattern;
    return pattern;
  }
};

using Formats = testing::Types<f16, bf16, f8e5m2, f8e4m3>;
TYPED_TEST_SUITE(SmallFloatOf, Formats);

TYPED_TEST(SmallFloatOf, DecodesEveryBitPattern) {
  for (unsigned pattern = 0; pattern < TestFixture::kPatterns; ++pattern) {
    const double want = TestFixture::value(pattern);
    const float got = TestFixture::from(pattern);
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(got)) << pattern;
    } else {
      ASSERT_EQ(want, static_cast<double>(got)) << pattern;
      ASSERT_EQ(std::signbit(want), std::signbit(got)) << pattern;
    }
  }
}

TYPED_TEST(SmallFloatOf, EncodesWhatItDecodes) {
  for (unsigned pattern = 0; pattern < TestFixture::kPatterns; ++pattern) {
    const TypeParam x = TestFixture::from(pattern);
    if (std::isnan(static_cast<float>(x))) {
      ASSERT_TRUE(std::isnan(static_cast<float>(TypeParam(static_cast<float>(x)))));
    } else {
      ASSERT_EQ(TypeParam(static_cast<float>(x)).bits, x.bits) << pattern;
      ASSERT_EQ(TypeParam(static_cast<double>(static_cast<float>(x))).bits, x.bits) << pattern;
    }
  }
}

TYPED_TEST(SmallFloatOf, LimitsAreThoseOfTheFormat) {
  using Limits = std::numeric_limits<TypeParam>;
  const unsigned one = TypeParam(1.0f).bits;
  EXPECT_EQ(static_cast<double>(Limits::max()), TestFixture::value(TestFixture::largest()));
  EXPECT_EQ(static_cast<double>(Limits::lowest()), -TestFixture::value(TestFixture::largest()));
  EXPECT_EQ(static_cast<double>(Limits::denorm_min()), TestFixture::value(1));
  EXPECT_EQ(static_cast<double>(Limits::min()), std::ldexp(1, 1 - TypeParam::bias));
  EXPECT_EQ(static_cast<double>(Limits::epsilon()), TestFixture::value(one + 1) - 1);
  EXPECT_EQ(Limits::has_infinity, !TestFixture::kFinite);
  EXPECT_EQ(std::isinf(static_cast<float>(Limits::infinity())), Limits::has_infinity);
  EXPECT_TRUE(std::isnan(static_cast<float>(Limits::quiet_NaN())));
}

TYPED_TEST(SmallFloatOf, TiesGoToTheEvenNeighbour) {
  const unsigned last = TestFixture::largest();
  for (unsigned low = 0; low < last; ++low) {
    const double a = TestFixture::value(low), b = TestFixture::value(low + 1);
    const double middle = (a + b) / 2;  // exact: one bit more than the format
    const unsigned even = low % 2 == 0 ? low : low + 1;
    for (const double sign : {1.0, -1.0}) {
      const unsigned sign_bit = sign < 0 ? TestFixture::kPatterns / 2 : 0;
      ASSERT_EQ(TypeParam(sign * middle).bits, even + sign_bit) << low;
      if (static_cast<double>(static_cast<float>(middle)) == middle) {
        ASSERT_EQ(TypeParam(static_cast<float>(sign * middle)).bits, even + sign_bit) << low;
      }
    }
  }
}

TYPED_TEST(SmallFloatOf, ADoubleNextToATieIsRoundedOnce) {
  // Rounding to f32 first would land on the tie and lose the direction.
  const unsigned last = TestFixture::largest();
  for (unsigned low = 0; low < last; ++low) {
    const double a = TestFixture::value(low), b = TestFixture::value(low + 1);
    const double middle = (a + b) / 2;
    ASSERT_EQ(TypeParam(std::nextafter(middle, a)).bits, low) << low;
    ASSERT_EQ(TypeParam(std::nextafter(middle, b)).bits, low + 1) << low;
    const auto narrow = static_cast<float>(middle);
    if (static_cast<double>(narrow) != middle) continue;
    ASSERT_EQ(TypeParam(std::nextafter(narrow, static_cast<float>(a))).bits, low) << low;
    ASSERT_EQ(TypeParam(std::nextafter(narrow, static_cast<float>(b))).bits, low + 1) << low;
  }
}

TYPED_TEST(SmallFloatOf, BeyondTheLargestComesInfinityOrNan) {
  const unsigned last = TestFixture::largest();
  const double largest = TestFixture::value(last);
  const double step = largest - TestFixture::value(last - 1);
  const auto overflows = [](TypeParam x) {
    const float value = x;
    return TestFixture::kFinite ? std::isnan(value) : std::isinf(value) && value > 0;
  };
  const double tie = largest + step / 2;
  EXPECT_EQ(TypeParam(std::nextafter(tie, 0.0)).bits, last);
  // The largest of an IEEE-like format is odd, that of f8e4m3 (448, 0x7e) even.
  if (last % 2 == 0) {
    EXPECT_EQ(TypeParam(tie).bits, last);
  } else {
    EXPECT_TRUE(overflows(TypeParam(tie)));
  }
  EXPECT_TRUE(overflows(TypeParam(std::nextafter(tie, 2 * tie))));
  EXPECT_TRUE(overflows(TypeParam(2 * largest)));
  EXPECT_TRUE(overflows(TypeParam(std::numeric_limits<double>::max())));
  EXPECT_TRUE(overflows(TypeParam(std::numeric_limits<float>::infinity())));
  EXPECT_TRUE(overflows(TypeParam(std::numeric_limits<double>::infinity())));
}

TYPED_TEST(SmallFloatOf, NanStaysNanWithItsSign) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float x : {nan, -nan, std::bit_cast<float>(0x7f800001u)}) {
    const float back = TypeParam(x);
    EXPECT_TRUE(std::isnan(back));
    EXPECT_EQ(std::signbit(back), std::signbit(x));
  }
  EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam(std::nan("")))));
}

TYPED_TEST(SmallFloatOf, BelowHalfTheSmallestComesASignedZero) {
  const double smallest = TestFixture::value(1);
  EXPECT_EQ(TypeParam(smallest / 2).bits, 0u);  // a tie: zero is even
  EXPECT_EQ(TypeParam(std::nextafter(smallest / 2, 1.0)).bits, 1u);
  EXPECT_EQ(TypeParam(-smallest / 2).bits, TestFixture::kPatterns / 2);
  EXPECT_EQ(TypeParam(std::numeric_limits<double>::denorm_min()).bits, 0u);
}

TEST(SmallFloat, HalfAgreesWithTheCompiler) {
#if defined(__FLT16_MANT_DIG__) && !defined(__clang__)
  for (unsigned pattern = 0; pattern < 65536; ++pattern) {
    const auto bits = static_cast<std::uint16_t>(pattern);
    const auto want = static_cast<float>(std::bit_cast<_Float16>(bits));
    const float got = f16::from_bits(bits);
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(got));
    } else {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(want), std::bit_cast<std::uint32_t>(got));
    }
  }
#else
  GTEST_SKIP() << "this compiler has no _Float16 on every machine";
#endif
}

#if defined(__FLT16_MANT_DIG__) && !defined(__clang__)
RC_GTEST_PROP(SmallFloat, HalfOfAnyDoubleAgreesWithTheCompiler, (std::uint64_t bits)) {
  // Any f64 has an exponent far outside f16 in most cases: fold it into reach.
  const std::uint64_t exponent = 1023 - 30 + (bits >> 52) % 50;
  const auto x = std::bit_cast<double>((bits & 0x800fffffffffffffu) | exponent << 52);
  RC_ASSERT(f16(x).bits == std::bit_cast<std::uint16_t>(static_cast<_Float16>(x)));
}
RC_GTEST_PROP(SmallFloat, HalfOfAnyFloatAgreesWithTheCompiler, (std::uint32_t bits)) {
  const auto x = std::bit_cast<float>(bits);
  RC_PRE(!std::isnan(x));
  RC_ASSERT(f16(x).bits == std::bit_cast<std::uint16_t>(static_cast<_Float16>(x)));
}
#endif

TEST(SmallFloat, WholeNumbersAreRoundedOnce) {
  EXPECT_EQ(static_cast<float>(f16(2049)), 2048.0f);  // tie to even
  EXPECT_EQ(static_cast<float>(f16(2051)), 2052.0f);
  EXPECT_EQ(static_cast<float>(bf16(std::int64_t{1} << 40)), 0x1p40f);
}

TEST(SmallFloat, Tf32RoundsTiesAwayFromZero) {
  EXPECT_EQ(round_to_tf32(1.0f + 0x1p-11f), 1.0f + 0x1p-10f);
  EXPECT_EQ(round_to_tf32(-(1.0f + 0x1p-11f)), -(1.0f + 0x1p-10f));
  EXPECT_EQ(round_to_tf32(1.0f + 0x1p-12f), 1.0f);
  EXPECT_EQ(round_to_tf32(std::numeric_limits<float>::infinity()),
            std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(round_to_tf32(std::bit_cast<float>(0x7fffffffu))));
}

}  // namespace
}  // namespace tessera
