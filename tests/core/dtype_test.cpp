#include "tessera/core/dtype.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace tessera {
namespace {

using testing::HasSubstr;

TEST(DType, NamesAreReadBack) {
  for (std::size_t i = 0; i < kElementTypeCount; ++i) {
    const auto type = static_cast<DType>(i);
    EXPECT_EQ(parse_dtype(name(type)), type);
    EXPECT_EQ(dtype_of_numpy(kElementTypes[i].numpy), type);
    EXPECT_NE(kElementTypes[i].safetensors, "") << "the list of names is shorter than DType";
    EXPECT_EQ(to_string(type), kElementTypes[i].name);
  }
}

TEST(DType, NumPyNamesAreUnderstood) {
  EXPECT_EQ(parse_dtype("float32"), DType::f32);
  EXPECT_EQ(parse_dtype("bfloat16"), DType::bf16);
  EXPECT_EQ(parse_dtype("float8_e4m3fn"), DType::f8e4m3);
  EXPECT_EQ(parse_dtype("uint8"), DType::u8);
  EXPECT_EQ(parse_dtype("bool_"), DType::boolean);
}

TEST(DType, AnUnknownNameListsTheKnownOnes) {
  try {
    parse_dtype("f23");
    FAIL() << "f23 is no type";
  } catch (const Error& error) {
    EXPECT_EQ(error.category(), Category::type);
    EXPECT_THAT(error.what(), HasSubstr("'f23'"));
    for (const auto& known : kElementTypes)
      EXPECT_THAT(error.what(), HasSubstr(std::string(known.name)));
  }
}

RC_GTEST_PROP(DType, AnyTextIsATypeOrAnError, (const std::string& text)) {
  try {
    const DType type = parse_dtype(text);
    RC_ASSERT(static_cast<std::size_t>(type) < kElementTypeCount);
  } catch (const Error& error) {
    RC_ASSERT(error.category() == Category::type);
  }
}

TEST(DType, EveryTypeKnowsItsSizeAndItsClass) {
  for (std::size_t i = 0; i < kElementTypeCount; ++i) {
    const auto type = static_cast<DType>(i);
    visit_dtype(type, [&]<class T>(TypeTag<T>) {
      EXPECT_EQ(size_of(type), static_cast<int>(sizeof(T))) << name(type);
      EXPECT_EQ(dtype_of<T>(), type) << name(type);
      EXPECT_EQ(dtype_of<const T>(), type) << name(type);
    });
  }
}

TEST(DType, NarrowTypesAreSummedInWiderOnes) {
  EXPECT_TRUE((std::is_same_v<Accumulator<f16>, float>));
  EXPECT_TRUE((std::is_same_v<Accumulator<bf16>, float>));
  EXPECT_TRUE((std::is_same_v<Accumulator<f8e4m3>, float>));
  EXPECT_TRUE((std::is_same_v<Accumulator<std::int8_t>, std::int32_t>));
  EXPECT_TRUE((std::is_same_v<Accumulator<std::uint8_t>, std::int32_t>));
  EXPECT_TRUE((std::is_same_v<Accumulator<const double>, double>));
}

TEST(Fma, RoundsOnce) {
  const float x = 1.0f + 0x1p-12f;  // x * x = 1 + 2^-11 + 2^-24: the last bit needs 25
  EXPECT_EQ(fma(x, x, -1.0f), 0x1p-11f + 0x1p-24f);
  const double y = 1.0 + 0x1p-30;
  EXPECT_EQ(fma(y, y, -1.0), 0x1p-29 + 0x1p-60);
  EXPECT_EQ(fma(f16(3), f16(5), 0.5f), 15.5f);
}

TEST(Fma, IntegersWrap) {
  EXPECT_EQ(fma(std::int32_t{2}, std::int32_t{1} << 30, std::int32_t{0}),
            std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(fma(std::int8_t{-128}, std::int8_t{-128}, std::int32_t{1}), 16385);
  EXPECT_EQ(fma(std::uint8_t{255}, std::uint8_t{255}, std::int32_t{0}), 65025);
}

template <class To>
void expect_saturation() {
  using Limits = std::numeric_limits<To>;
  EXPECT_EQ(convert<To>(1e30), Limits::max());
  EXPECT_EQ(convert<To>(-1e30), Limits::min());
  EXPECT_EQ(convert<To>(std::numeric_limits<float>::infinity()), Limits::max());
  EXPECT_EQ(convert<To>(-std::numeric_limits<double>::infinity()), Limits::min());
  EXPECT_EQ(convert<To>(std::nan("")), To{0});
  EXPECT_EQ(convert<To>(f16(1.75f)), To{1});
  EXPECT_EQ(convert<To>(0.99), To{0});
  // The first number beyond the end, and the last one within.
  const double beyond = std::ldexp(1.0, Limits::digits);
  EXPECT_EQ(convert<To>(beyond), Limits::max());
  const double within = std::nextafter(beyond, 0.0);
  EXPECT_EQ(convert<To>(within), static_cast<To>(within));
}

TEST(Convert, FloatToIntegerSaturatesAndNanIsZero) {
  expect_saturation<std::int8_t>();
  expect_saturation<std::uint8_t>();
  expect_saturation<std::int16_t>();
  expect_saturation<std::uint16_t>();
  expect_saturation<std::int32_t>();
  expect_saturation<std::uint32_t>();
  expect_saturation<std::int64_t>();
  expect_saturation<std::uint64_t>();
  EXPECT_EQ(convert<std::int8_t>(-1.9f), -1);
  EXPECT_EQ(convert<std::uint8_t>(-1.9f), 0);
}

TEST(Convert, IntegersWrapAndBoolAsksForZero) {
  EXPECT_EQ(convert<std::int8_t>(std::int32_t{200}), -56);
  EXPECT_EQ(convert<std::uint8_t>(std::int32_t{-1}), 255);
  EXPECT_TRUE(convert<bool>(0.25));
  EXPECT_FALSE(convert<bool>(-0.0));
}

TEST(Convert, BetweenSmallFloatsGoesThroughTheExactValue) {
  EXPECT_EQ(static_cast<float>(convert<bf16>(f16(1.0f + 0x1p-10f))), 1.0f);
  EXPECT_EQ(static_cast<float>(convert<f16>(bf16(0x1p20f))),
            std::numeric_limits<float>::infinity());
  EXPECT_EQ(static_cast<float>(convert<f8e4m3>(f16(17))), 16.0f);
}

}  // namespace
}  // namespace tessera
