#include "tessera/ops/reduce.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tessera/ops/outer_product.hpp"
#include "tessera/simt/launch.hpp"
#include "tessera/tensor/generate.hpp"
#include "tessera/tensor/host_tensor.hpp"
#include "tessera/tensor/print.hpp"
#include "tessera/tensor/tile.hpp"

namespace tessera {
namespace {

TEST(Reduce, SumsAndMaximaOfAll) {
  HostTensor<float> m({{1, 5, -2}, {4, -8, 3}});
  EXPECT_EQ(sum(m), 3);
  EXPECT_EQ(max(m), 5);
  HostTensor<float> negative({{-3, -2}});
  EXPECT_EQ(max(negative), -2);
}

TEST(Reduce, AlongAMode) {
  HostTensor<std::int32_t, 3> t(2, 3, 4);
  arange(t.view());
  HostTensor<std::int32_t> s(2, 4);
  sum<1>(t.view(), s.view());
  for (int i = 0; i < 2; ++i) {
    for (int k = 0; k < 4; ++k) EXPECT_EQ(s(i, k), t(i, 0, k) + t(i, 1, k) + t(i, 2, k));
  }
  HostTensor<std::int32_t> largest(2, 3);
  max<2>(t.view(), largest.view());
  EXPECT_EQ(to_string(largest.view()), " 3  7 11\n15 19 23\n");
  HostTensor<std::int32_t, 1> line(5), one(1);
  arange(line.view());
  sum<0>(line.view(), one.view());
  EXPECT_EQ(one(0), 10);
}

TEST(Reduce, OfAClippedTileSeesWhatExists) {
  HostTensor<float> m(11, 7);
  arange(m.view());
  EXPECT_EQ(sum(tile<4, 4>(m.view(), 2, 1)), 3 * (61 + 68 + 75));
  HostTensor<float> down(11, 7);
  down.view() -= m;
  EXPECT_EQ(max(tile<4, 4>(down.view(), 2, 1)), -60);  // not the zero of a padded tile
}

template <class Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.category(), Category::shape) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

TEST(Reduce, ADestinationOfOtherExtentsIsAnErrorThatNamesBoth) {
  HostTensor<float> m(3, 5);
  HostTensor<float, 3> t(2, 3, 4);
  HostTensor<float> wrong(2, 3);
  for (const index_t extent : {0, 2, 4, 5}) {
    HostTensor<float, 1> out(extent);
    fill(out.view(), -7);
    const auto both = testing::AllOf(testing::HasSubstr("mode 0 of the destination"),
                                     testing::HasSubstr("expected extent 3"),
                                     testing::HasSubstr(cat("got ", extent)));
    EXPECT_THAT(refusal([&] { sum<1>(m.view(), out.view()); }), both);
    EXPECT_THAT(refusal([&] { max<1>(m.view(), out.view()); }), both);
    for (index_t i = 0; i < extent; ++i) EXPECT_EQ(out(i), -7);
  }
  HostTensor<float, 1> three(3), none(0);
  EXPECT_NO_THROW(sum<1>(m.view(), three.view()));
  EXPECT_THAT(refusal([&] { sum<0>(m.view(), three.view()); }), testing::HasSubstr("extent 5"));
  EXPECT_THAT(refusal([&] { sum<0>(t.view(), wrong.view()); }), testing::HasSubstr("extent 3"));
  EXPECT_THAT(refusal([&] { max<1>(t.view(), wrong.view()); }), testing::HasSubstr("mode 1"));
  EXPECT_THAT(refusal([&] { sum<0>(three.view(), three.view()); }), testing::HasSubstr("extent 1"));
  EXPECT_THAT(refusal([&] { sum<0>(three.view(), none.view()); }), testing::HasSubstr("extent 1"));
}

TEST(Reduce, AlongAModeOfAClippedTileFoldsWhatExists) {
  HostTensor<float> m(11, 7);
  arange(m.view());
  const auto corner = tile<4, 4>(m.view(), 2, 1);  // 3 x 3 exist
  HostTensor<float, 1> exact(3), whole(4), few(2), many(5);
  sum<1>(corner, exact.view());
  EXPECT_EQ(to_string(exact.view()), "183 204 225\n");
  sum<1>(corner, whole.view());
  EXPECT_EQ(to_string(whole.view()), "183 204 225 0\n");  // the sum of nothing
  max<0>(corner, whole.view());
  EXPECT_EQ(to_string(whole.view()), "74 75 76 -inf\n");
  EXPECT_THAT(refusal([&] { sum<1>(corner, few.view()); }), testing::HasSubstr("got 2"));
  EXPECT_THAT(refusal([&] { sum<1>(corner, many.view()); }), testing::HasSubstr("got 5"));
  fill(many.view(), -7);
  sum<1>(tile<4, 4>(m.view(), 0, 0), tile<4>(many.view(), 1));  // 1 of 4 exists
  EXPECT_EQ(many(4), 0 + 1 + 2 + 3);
  EXPECT_EQ(many(3), -7);
  sum<0>(tile<4>(exact.view(), 0), tile<1>(many.view(), 5));  // nothing exists
}

TEST(Reduce, NarrowTypesAreSummedWide) {
  HostTensor<f16> h(100, 100);
  fill(h.view(), 1);
  EXPECT_EQ(sum(h), 10'000.0f);  // f16 alone would stop at 2048
  HostTensor<std::int8_t> b(100, 100);
  fill(b.view(), 100);
  EXPECT_EQ(sum(b), 1'000'000);
}

TEST(Reduce, NothingAndNan) {
  HostTensor<float> empty(0, 3);
  EXPECT_EQ(sum(empty), 0);
  EXPECT_EQ(max(empty), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(max(HostTensor<std::int32_t>(0, 3)), std::numeric_limits<std::int32_t>::lowest());
  HostTensor<float> m({{1, std::nanf(""), 3}});
  EXPECT_TRUE(std::isnan(max(m)));
  HostTensor<float> first({{std::nanf(""), 3}});
  EXPECT_TRUE(std::isnan(max(first)));
}

struct Sums {
  struct Shared {
    Tile<std::int32_t, 1024> scratch;
  };
  void operator()(auto t, auto warps, auto blocks) const {
    auto& stage = shared<Shared>(t);
    const std::int32_t value = t.thread + 1;
    warps(t.thread) = warp_sum(t, value);
    for (int repeat = 0; repeat < 2; ++repeat)
      blocks(t.thread) = block_sum(t, value, stage.scratch.view());
  }
};

TEST(Reduce, WarpAndBlockSumsReachEveryThread) {
  for (const int threads : {1, 2, 31, 32, 33, 64, 100, 257}) {
    for (const auto order : {ThreadOrder::forward, ThreadOrder::backward, ThreadOrder::shuffled}) {
      HostTensor<std::int32_t, 1> warps(threads), blocks(threads);
      launch(LaunchConfig{.grid = {1}, .block = {threads}, .order = order, .seed = 9}, Sums{},
             warps.view(), blocks.view());
      for (int p = 0; p < threads; ++p) {
        int want = 0;
        for (int q = p / 32 * 32; q < threads && q < p / 32 * 32 + 32; ++q) want += q + 1;
        ASSERT_EQ(warps(p), want) << threads << " " << p;
        ASSERT_EQ(blocks(p), threads * (threads + 1) / 2) << threads << " " << p;
      }
    }
  }
}

TEST(OuterProduct, IsOneFusedMultiplyAddPerElement) {
  Tile<float, 2, 3> acc{};
  Tile<float, 2> a{};
  Tile<float, 3> b{};
  arange(a.view(), 1);
  arange(b.view(), 1);
  fill(acc.view(), 100);
  outer_product_acc(acc, a, b);
  EXPECT_EQ(to_string(acc.view()), "101 102 103\n102 104 106\n");
  const float x = 1.0f + 0x1p-12f;  // x * x needs 25 bits: rounded twice it would lose the last
  fill(acc.view(), -1);
  fill(a.view(), x);
  fill(b.view(), x);
  outer_product_acc(acc.view(), a.view(), b.view());
  EXPECT_EQ(acc(1, 2), 0x1p-11f + 0x1p-24f);
}

}  // namespace
}  // namespace tessera
