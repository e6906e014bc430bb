// Matrix units on the CPU: fragment layouts, exact products, rounding of inputs.
#include "tessera/ops/tensor_core.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "tessera/simt/launch.hpp"

namespace tessera {
namespace {

using ::testing::HasSubstr;

template <class Mma, class In, class Out>
struct OneInstruction {
  void operator()(auto t, const In* a, const In* b, const Out* c, Out* d) const {
    constexpr MmaShape s = Mma::shape;
    auto gA = tensor<row_major(s.m, s.k)>(a);
    auto gB = tensor<row_major(s.k, s.n)>(b);
    auto gC = tensor<row_major(s.m, s.n)>(c);
    auto gD = tensor<row_major(s.m, s.n)>(d);
    auto acc = Mma::load_c(t, gC);
    for (int repeat = 0; repeat < 2; ++repeat)
      Mma::mma(t, acc, Mma::load_a(t, gA), Mma::load_b(t, gB));
    Mma::store_d(t, gD, acc);
  }
};

template <class Out, class In, MmaShape S>
void expect_exact_and_covering() {
  using Mma = TensorCore<Out, In, S>;
  // Each fragment covers its matrix exactly once.
  for (const auto& [layout, size] : {std::pair{Mma::layout_a, S.m * S.k},
                                     {Mma::layout_b, S.k * S.n},
                                     {Mma::layout_c, S.m * S.n}}) {
    std::set<index_t> seen;
    for (int lane = 0; lane < 32; ++lane) {
      for (int v = 0; v < layout.mode(1).size(); ++v) seen.insert(layout(lane, v));
    }
    EXPECT_EQ(static_cast<int>(seen.size()), size);
    EXPECT_EQ(layout.size(), size);
    EXPECT_EQ(*seen.rbegin(), size - 1);
  }
  std::vector<In> a(S.m * S.k), b(S.k * S.n);
  std::vector<Out> c(S.m * S.n), d(S.m * S.n, Out(-1));
  for (std::size_t i = 0; i < a.size(); ++i)
    a[i] = In(static_cast<float>(static_cast<int>(i * 7 % 5)) - (std::is_unsigned_v<In> ? 0 : 2));
  for (std::size_t i = 0; i < b.size(); ++i)
    b[i] = In(static_cast<float>(static_cast<int>(i * 11 % 5)) - (std::is_unsigned_v<In> ? 0 : 2));
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = static_cast<Out>(static_cast<int>(i % 13));
  for (const ThreadOrder order :
       {ThreadOrder::forward, ThreadOrder::backward, ThreadOrder::shuffled}) {
    launch(LaunchConfig{.block = {32}, .order = order, .seed = 1}, OneInstruction<Mma, In, Out>{},
           static_cast<const In*>(a.data()), static_cast<const In*>(b.data()),
           static_cast<const Out*>(c.data()), d.data());
    for (int i = 0; i < S.m; ++i) {
      for (int j = 0; j < S.n; ++j) {
        double expected = static_cast<double>(c[static_cast<std::size_t>(i * S.n + j)]);
        for (int k = 0; k < S.k; ++k) {
          expected += 2 * static_cast<double>(a[static_cast<std::size_t>(i * S.k + k)]) *
                      static_cast<double>(b[static_cast<std::size_t>(k * S.n + j)]);
        }
        ASSERT_EQ(static_cast<double>(d[static_cast<std::size_t>(i * S.n + j)]), expected)
            << i << "," << j;
      }
    }
  }
}

TEST(TensorCore, EveryShapeIsExactOnSmallIntegersAndCoversItsFragments) {
  expect_exact_and_covering<float, float, MmaShape{16, 8, 8}>();
  expect_exact_and_covering<float, float, MmaShape{16, 8, 4}>();
  expect_exact_and_covering<float, f16, MmaShape{16, 8, 16}>();
  expect_exact_and_covering<float, f16, MmaShape{16, 8, 8}>();
  expect_exact_and_covering<float, bf16, MmaShape{16, 8, 16}>();
  expect_exact_and_covering<float, bf16, MmaShape{16, 8, 8}>();
  expect_exact_and_covering<float, f8e4m3, MmaShape{16, 8, 32}>();
  expect_exact_and_covering<float, f8e5m2, MmaShape{16, 8, 32}>();
  expect_exact_and_covering<std::int32_t, std::int8_t, MmaShape{16, 8, 32}>();
  expect_exact_and_covering<std::int32_t, std::uint8_t, MmaShape{16, 8, 32}>();
}

TEST(TensorCore, KnownLanesOfTheFragments) {
  // PTX ISA, figures of mma.m16n8k8 (tf32) and m16n8k16 (f16): lane 5 is group 1, thread 1 in
  // group.
  using Tf32 = TensorCore<float, float, MmaShape{16, 8, 8}>;
  EXPECT_EQ(Tf32::layout_a(5, 0), 1 + 16 * 1);  // a0: row 1, column 1
  EXPECT_EQ(Tf32::layout_a(5, 1), 9 + 16 * 1);  // a1: row 9
  EXPECT_EQ(Tf32::layout_a(5, 2), 1 + 16 * 5);  // a2: column 5
  EXPECT_EQ(Tf32::layout_b(5, 0), 1 + 8 * 1);   // b0: k 1, n 1
  EXPECT_EQ(Tf32::layout_b(5, 1), 1 + 8 * 5);   // b1: k 5
  EXPECT_EQ(Tf32::layout_c(5, 1), 1 + 16 * 3);  // c1: row 1, column 3
  EXPECT_EQ(Tf32::layout_c(5, 2), 9 + 16 * 2);  // c2: row 9, column 2
  using Half = TensorCore<float, f16, MmaShape{16, 8, 16}>;
  EXPECT_EQ(Half::layout_a(5, 1), 1 + 16 * 3);   // a1: row 1, column 3
  EXPECT_EQ(Half::layout_a(5, 2), 9 + 16 * 2);   // a2: row 9
  EXPECT_EQ(Half::layout_a(5, 4), 1 + 16 * 10);  // a4: column 10
  EXPECT_EQ(Half::layout_b(5, 2), 1 + 8 * 10);   // b2: k 10
}

template <int Threads>
struct MultipliesInABlockOf {
  static constexpr Dim3 block{Threads};
  void operator()(auto t, float* d) const {
    using Mma = TensorCore<float, float, MmaShape{16, 8, 8}>;
    auto acc = Mma::zero();
    Mma::mma(t, acc, {}, {});
    if (t.thread == 0) *d = acc.value[0];
  }
};
struct MultipliesInTwoPlaces {
  static constexpr Dim3 block{32};
  void operator()(auto t) const {
    using Mma = TensorCore<float, float, MmaShape{16, 8, 8}>;
    auto acc = Mma::zero();
    if (t.lane < 16) Mma::mma(t, acc, {}, {});
    else Mma::mma(t, acc, {}, {});
  }
};

TEST(TensorCore, NeedsAWholeWarpAtOnePlace) {
  const auto message = [](auto kernel, auto... args) -> std::string {
    try {
      launch(Dim3{1}, kernel, args...);
    } catch (const Error& error) {
      EXPECT_EQ(error.category(), Category::kernel);
      return error.what();
    }
    return "no error";
  };
  float d = 1;
  EXPECT_EQ(message(MultipliesInABlockOf<64>{}, &d), "no error");
  EXPECT_EQ(d, 0);
  EXPECT_THAT(message(MultipliesInABlockOf<16>{}, &d),
              HasSubstr("a matrix instruction needs a whole warp: expected 32 lanes, got 16; make "
                        "the block a multiple of 32 threads"));
  EXPECT_THAT(message(MultipliesInABlockOf<40>{}, &d), HasSubstr("got 8"));
  EXPECT_THAT(message(MultipliesInTwoPlaces{}), HasSubstr("different barriers"));
}

TEST(TensorCore, Tf32RoundsToTenBitsTiesAway) {
  EXPECT_EQ(round_to_tf32(1.0f + 0x1p-11f), 1.0f + 0x1p-10f);
  EXPECT_EQ(round_to_tf32(-1.0f - 0x1p-11f), -1.0f - 0x1p-10f);
  EXPECT_EQ(round_to_tf32(1.0f + 0x1.fp-12f), 1.0f);
  EXPECT_EQ(round_to_tf32(std::numeric_limits<float>::infinity()),
            std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(round_to_tf32(std::numeric_limits<float>::quiet_NaN())));
  std::vector<float> a(128, 1.0f + 0x1p-12f), b(64, 1.0f), c(128, 0.0f), d(128);
  using Mma = TensorCore<float, float, MmaShape{16, 8, 8}>;
  launch(LaunchConfig{.block = {32}}, OneInstruction<Mma, float, float>{},
         static_cast<const float*>(a.data()), static_cast<const float*>(b.data()),
         static_cast<const float*>(c.data()), d.data());
  EXPECT_EQ(d[77], 16.0f);  // the bits below TF32 are gone
}

}  // namespace
}  // namespace tessera
