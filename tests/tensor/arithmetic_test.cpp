#include "tessera/tensor/arithmetic.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "guarded.hpp"
#include "tessera/core/error.hpp"
#include "tessera/tensor/compare.hpp"
#include "tessera/tensor/generate.hpp"
#include "tessera/tensor/host_tensor.hpp"
#include "tessera/tensor/print.hpp"
#include "tessera/tensor/slice.hpp"
#include "tessera/tensor/tile.hpp"
#include "tessera/tensor/transpose.hpp"
#include "tessera/tensor/vectorize.hpp"

namespace tessera {
namespace {

using test::Guarded;

TEST(Fill, WritesWhatExistsAndNothingElse) {
  Guarded<> memory(11 * 10);
  const auto t = tensor<kRowMajorMatrix>(memory.data(), 11, 7, 10);
  fill(tile<4, 4>(t, 2, 1), -1);
  for (index_t i = 0; i < 11; ++i) {
    for (index_t j = 0; j < 10; ++j) {
      const bool inside = i >= 8 && j >= 4 && j < 7;
      ASSERT_EQ(memory[10 * i + j], inside ? -1.0f : static_cast<float>(10 * i + j));
    }
  }
  EXPECT_TRUE(memory.guards_hold());
}

TEST(Arithmetic, InPlaceWithANumber) {
  HostTensor<float> m({{1, 2}, {3, 4}});
  const auto t = m.view();
  t += 1;
  t *= 2;
  t -= 2.0f;
  t /= 4;
  EXPECT_EQ(to_string(t), "0.5 1\n1.5 2\n");
}

TEST(Arithmetic, BroadcastsAsNumPyDoes) {
  HostTensor<float> m(2, 3);
  arange(m.view());
  HostTensor<float, 1> row(3);
  arange(row.view(), 10, 10);
  m.view() += row;  // (2,3) += (3)
  EXPECT_EQ(to_string(m.view()), "10 21 32\n13 24 35\n");
  HostTensor<float> col({{100}, {200}});
  m.view() -= col.view();  // (2,3) -= (2,1)
  EXPECT_EQ(to_string(m.view()), " -90  -79  -68\n-187 -176 -165\n");
  HostTensor<float, 3> stack(2, 2, 3);
  stack.view() += m;  // (2,2,3) += (2,3)
  EXPECT_EQ(stack(1, 1, 2), -165);
}

TEST(Arithmetic, ExtentsThatDoNotBroadcastAreErrors) {
  HostTensor<float> m(2, 3);
  HostTensor<float, 1> row(2);
  EXPECT_THROW(m.view() += row, Error);
  HostTensor<float> rows(3, 3);
  EXPECT_THROW(m.view() *= rows, Error);
}

TEST(Arithmetic, OfClippedTilesTouchesWhatExists) {
  Guarded<> memory(77);
  const auto whole = tensor<row_major(11, 7)>(memory.data());
  tile<4, 4>(whole, 2, 1) *= tile<4, 4>(whole, 2, 1);  // 3 x 3 exist
  for (index_t x = 0; x < 77; ++x) {
    const bool inside = x / 7 >= 8 && x % 7 >= 4;
    ASSERT_EQ(memory[x], static_cast<float>(inside ? x * x : x));
  }
  EXPECT_TRUE(memory.guards_hold());
  tile<4, 4>(whole, 0, 0) *= tile<4, 4>(whole, 0, 1);  // column 3 has no partner
  EXPECT_EQ(memory[1], 5);
  EXPECT_EQ(memory[3], 3);
}

TEST(Arithmetic, NarrowFloatsRoundOnce) {
  Tile<f16, 1, 1> a{}, b{};
  a(0, 0) = f16(2048);
  b(0, 0) = f16(1);
  a.view() += b;  // 2049 is a tie: to even
  EXPECT_EQ(static_cast<float>(a(0, 0)), 2048.0f);
  a.view() += 3;
  EXPECT_EQ(static_cast<float>(a(0, 0)), 2052.0f);
}

TEST(Arithmetic, ValuesAreNewStorages) {
  Tile<float, 2, 2> a{}, b{};
  arange(a.view());
  fill(b.view(), 10);
  EXPECT_EQ(to_string((a + b).view()), "10 11\n12 13\n");
  EXPECT_EQ(to_string((b - a).view()), "10 9\n 8 7\n");
  EXPECT_EQ(to_string((2 * a.view() + 1).view()), "1 3\n5 7\n");
  EXPECT_EQ(to_string((60 / (a + 1)).view()), "60 30\n20 15\n");
  EXPECT_EQ(a(1, 1), 3);  // unchanged
}

TEST(Arithmetic, ValuesOfAClippedTileAreZeroPastTheEdge) {
  Guarded<> memory(6);
  const auto t = tile<2, 2>(tensor<row_major(3, 2)>(memory.data()), 1, 0);
  EXPECT_EQ(to_string((t + t).view()), "8 10\n0  0\n");
}

TEST(Arithmetic, OfVectorsWorksLaneByLane) {
  HostTensor<float> m(2, 8);
  arange(m.view());
  const auto v = vectorize<1, 4>(m.view());
  v *= 2;
  v += v;
  EXPECT_EQ(m(1, 7), 60);
}

TEST(Arithmetic, ExponentialsOfEveryElement) {
  HostTensor<double> m({{0, 1}, {-1, 700}});
  exp_in_place(m.view());
  EXPECT_EQ(m(0, 0), 1.0);
  EXPECT_EQ(m(0, 1), std::exp(1.0));
  EXPECT_EQ(m(1, 0), std::exp(-1.0));
  Tile<f16, 1, 2> h{};
  h(0, 1) = f16(1);
  EXPECT_EQ(exp(h)(0, 1).bits, f16(std::exp(1.0f)).bits);
}

TEST(Arithmetic, AppliesAnyFunction) {
  HostTensor<std::int32_t> m({{1, -2}, {3, -4}});
  apply(m.view(), [](std::int32_t x) { return x < 0 ? 0 : x; });
  EXPECT_EQ(to_string(m.view()), "1 0\n3 0\n");
}

// --- generate ------------------------------------------------------------------------------------

TEST(Generate, ArangeCountsRowByRow) {
  HostTensor<double> m(2, 3);
  arange(m.view(), 5, 0.5);
  EXPECT_EQ(to_string(m.view()), "  5 5.5   6\n6.5   7 7.5\n");
}

TEST(Generate, RandomNumbersDependOnSeedAndPositionAlone) {
  HostTensor<float> whole(9, 7), parts(9, 7), other(9, 7);
  fill_random(whole.view(), 42);
  fill_random(other.view(), 43);
  fill_random(transpose(parts.view()), 42);
  EXPECT_FALSE(equal(whole.view(), other.view()));
  EXPECT_FALSE(equal(whole.view(), parts.view()));  // positions of the view count
  fill_random(parts.view(), 42);
  EXPECT_TRUE(equal(whole.view(), parts.view()));
  // The generator is part of the interface: these never change.
  EXPECT_EQ(random_bits(0, 0), 0xe220a8397b1dcdafu);  // splitmix64 from 0
  EXPECT_EQ(random_bits(0, 1), 0x6e789e6aa1b965f4u);
}

TEST(Generate, RandomNumbersFillTheirRangeEvenly) {
  HostTensor<double> m(100, 100);
  fill_random(m.view(), 7, 2, 4);
  double total = 0, least = 9, most = -9;
  for (const double x : m) {
    total += x;
    least = std::min(least, x);
    most = std::max(most, x);
  }
  EXPECT_NEAR(total / 10'000, 3, 0.03);
  EXPECT_GE(least, 2);
  EXPECT_LT(least, 2.01);
  EXPECT_LT(most, 4);
  EXPECT_GT(most, 3.99);
}

TEST(Generate, RandomIntegersAreWholeAndReachBothEnds) {
  HostTensor<std::int32_t> m(40, 40);
  fill_random(m.view(), 7, -2, 3);
  int seen[5] = {};
  for (const int x : m) {
    ASSERT_GE(x, -2);
    ASSERT_LT(x, 3);
    ++seen[x + 2];
  }
  for (const int times : seen) EXPECT_GT(times, 200);
}

// --- compare -------------------------------------------------------------------------------------

TEST(Compare, EqualMeansEveryElement) {
  HostTensor<float> a(3, 4), b(3, 4);
  EXPECT_TRUE(equal(a.view(), b.view()));
  for (index_t i = 0; i < 3; ++i) {
    for (index_t j = 0; j < 4; ++j) {
      b(i, j) = 1;
      EXPECT_FALSE(equal(a.view(), b.view())) << i << j;
      b(i, j) = -0.0f;
      EXPECT_TRUE(equal(a.view(), b.view()));
    }
  }
  EXPECT_FALSE(equal(a.view(), HostTensor<float>(4, 3).view()));
}

TEST(Compare, NanAgreesWithNothing) {
  HostTensor<float> a(2, 2), b(2, 2);
  a(1, 0) = b(1, 0) = std::nanf("");
  EXPECT_FALSE(equal(a.view(), b.view()));
  EXPECT_FALSE(all_close(a.view(), b.view(), {1e30, 1e30}));
  EXPECT_EQ(first_difference(a.view(), b.view()), "element (1,0) is nan, not nan");
  b(1, 0) = 0;
  EXPECT_FALSE(all_close(a.view(), b.view(), {1e30, 1e30}));
  EXPECT_FALSE(all_close(b.view(), a.view(), {1e30, 1e30}));
}

TEST(Compare, ToleranceIsAbsolutePlusRelative) {
  HostTensor<double> a({{1.0, 100.0}}), b({{1.05, 101.0}});
  EXPECT_TRUE(all_close(a.view(), b.view(), {0.06, 0.01}));
  EXPECT_FALSE(all_close(a.view(), b.view(), {0.06, 0.001}));
  EXPECT_EQ(first_difference(a.view(), b.view(), {0.06, 0}), "element (0,1) is 100, not 101");
  EXPECT_EQ(first_difference(a.view(), a.view()), "");
}

TEST(Compare, InfinityIsCloseToItselfOnly) {
  const double inf = HUGE_VAL;
  HostTensor<double> a({{inf}}), b({{1e308}}), c({{-inf}});
  EXPECT_TRUE(all_close(a.view(), a.view()));
  EXPECT_FALSE(all_close(a.view(), b.view(), {1, 1}));
  EXPECT_FALSE(all_close(b.view(), a.view(), {1, 1}));
  EXPECT_FALSE(all_close(a.view(), c.view(), {1, 1}));
}

TEST(Compare, ClippedViewsCompareWhatExists) {
  Guarded<> memory(77);
  const auto t = tensor<row_major(11, 7)>(memory.data());
  EXPECT_EQ(first_difference(tile<4, 4>(t, 2, 1), copy_of(tile<4, 4>(t, 2, 1)).view()), "");
  EXPECT_EQ(first_difference(tile<4, 4>(t, 2, 1), tile<4, 4>(t, 0, 0)),
            "shape (3,3) is not shape (4,4)");
}

// --- print ---------------------------------------------------------------------------------------

TEST(Print, AlignsColumns) {
  HostTensor<double> m({{1, -2.5, 1e-7}, {100, 0.333333333, 1e20}});
  EXPECT_EQ(to_string(m.view()), "  1     -2.5 1e-07\n100 0.333333 1e+20\n");
}

TEST(Print, ShowsSpecialNumbersAndNarrowTypes) {
  HostTensor<float> m({{std::nanf(""), HUGE_VALF, -HUGE_VALF, -0.0f}});
  EXPECT_EQ(to_string(m.view()), "nan inf -inf -0\n");
  HostTensor<std::int8_t> bytes({{65, -128}});
  EXPECT_EQ(to_string(bytes.view()), "65 -128\n");
  HostTensor<bf16> narrow({{bf16(1.5), bf16(3)}});
  EXPECT_EQ(to_string(narrow.view()), "1.5 3\n");
}

TEST(Print, HigherRanksAreSlices) {
  HostTensor<std::int32_t, 4> t(1, 2, 2, 2);
  arange(t.view());
  EXPECT_EQ(to_string(t.view()), "[0, 0, :, :]\n0 1\n2 3\n\n[0, 1, :, :]\n4 5\n6 7\n");
  HostTensor<std::int32_t, 1> line(3);
  arange(line.view());
  EXPECT_EQ(to_string(line.view()), "0 1 2\n");
}

TEST(Print, LongModesAreShortenedInTheMiddle) {
  HostTensor<std::int32_t> t(100, 33);
  arange(t.view());
  const std::string text = to_string(t.view());
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 33);  // 32 rows and a line of dots
  EXPECT_THAT(text, testing::HasSubstr("\n...\n"));
  EXPECT_THAT(text, testing::HasSubstr("15 ..."));
  EXPECT_THAT(text, testing::EndsWith(" 3299\n"));
  HostTensor<std::int32_t> fits(32, 32);
  EXPECT_THAT(to_string(fits.view()), testing::Not(testing::HasSubstr("...")));
}

TEST(Print, EmptyTensorsSaySo) {
  EXPECT_EQ(to_string(HostTensor<float>(0, 5).view()), "empty (0,5)\n");
  EXPECT_EQ(to_string(HostTensor<float, 3>(2, 0, 5).view()), "empty (2,0,5)\n");
}

}  // namespace
}  // namespace tessera
