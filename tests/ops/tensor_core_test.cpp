// Matrix units on the CPU: fragment layouts, exact products, rounding of inputs.
#include "tessera/ops/tensor_core.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "support/unit_operands.hpp"
#include "tessera/core/error.hpp"
#include "tessera/ops/copy.hpp"
#include "tessera/simt/launch.hpp"
#include "tessera/tensor/host_tensor.hpp"

namespace tessera {
namespace {

using ::testing::HasSubstr;

template <class Mma, class In, class Out>
struct OneInstruction {
  static constexpr int warp = Mma::lanes;
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
    for (int lane = 0; lane < Mma::lanes; ++lane) {
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
    launch(LaunchConfig{.block = {Mma::lanes}, .order = order, .seed = 1},
           OneInstruction<Mma, In, Out>{}, static_cast<const In*>(a.data()),
           static_cast<const In*>(b.data()), static_cast<const Out*>(c.data()), d.data());
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

/// Loads or stores `part` of C with what is the tile of another fragment.
struct WrongTile {
  static constexpr int warp = 32;
  int part;
  void operator()(auto t, const float* a, float* c) const {
    using Mma = TensorCore<float, float, MmaShape{16, 8, 8}>;
    const auto tall = tensor<row_major(16, 8)>(a);
    const auto all = tensor<row_major(dynamic, 16)>(a, 16);
    if (part == 0) static_cast<void>(Mma::load_a(t, all));
    if (part == 1) static_cast<void>(Mma::load_b(t, tall));
    if (part == 2) static_cast<void>(Mma::load_c(t, all));
    if (part == 3) Mma::store_d(t, tensor<row_major(8, 8)>(c), Mma::zero());
  }
};

TEST(TensorCore, ATileOfAnotherShapeIsRefused) {
  const std::vector<float> a(256);
  std::vector<float> c(256);
  const char* wanted[] = {"16 x 8, got 16 x 16", "8 x 8, got 16 x 8", "16 x 8, got 16 x 16",
                          "16 x 8, got 8 x 8"};
  for (int part = 0; part < 4; ++part) {
    try {
      launch(LaunchConfig{.block = {32}}, WrongTile{part}, a.data(), c.data());
      ADD_FAILURE() << part;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(wanted[part]), std::string::npos) << error.what();
    }
  }
}

TEST(TensorCore, EveryShapeIsExactOnSmallIntegersAndCoversItsFragments) {
  expect_exact_and_covering<double, double, MmaShape{16, 8, 16}>();
  expect_exact_and_covering<double, double, MmaShape{16, 8, 8}>();
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
  expect_exact_and_covering<float, float, MmaShape{16, 16, 4}>();
  expect_exact_and_covering<float, f16, MmaShape{16, 16, 16}>();
  expect_exact_and_covering<float, bf16, MmaShape{16, 16, 16}>();
  expect_exact_and_covering<float, f16, MmaShape{32, 32, 8}>();
  expect_exact_and_covering<float, bf16, MmaShape{32, 32, 8}>();
}

/// Random operands of every kind: the bits of two instructions one after the other.
template <class Out, class In, MmaShape S>
void expect_bits_of_the_unit() {
  using Mma = TensorCore<Out, In, S>;
  for (std::size_t kind = 0; kind < testing::kOperandNames.size(); ++kind) {
    testing::DrawOperands draw(static_cast<testing::Operands>(kind), kind);
    std::vector<In> a(S.m * S.k), b(S.k * S.n);
    std::vector<Out> c(S.m * S.n), d(S.m * S.n);
    draw.fill(a, false), draw.fill(b, true);
    for (Out& each : c) each = draw.template addend<In, Out>();
    launch(LaunchConfig{.block = {32}, .order = ThreadOrder::shuffled},
           OneInstruction<Mma, In, Out>{}, static_cast<const In*>(a.data()),
           static_cast<const In*>(b.data()), static_cast<const Out*>(c.data()), d.data());
    if constexpr (std::is_same_v<In, float>) {
      for (auto* operand : {&a, &b})
        std::transform(operand->begin(), operand->end(), operand->begin(), [](float x) {
          return std::isnan(x) ? std::numeric_limits<float>::quiet_NaN() : round_to_tf32(x);
        });
    }
    for (int at = 0; at < S.m * S.n; ++at) {
      In column[S.k];
      for (int k = 0; k < S.k; ++k) column[k] = b[static_cast<std::size_t>(k * S.n + at % S.n)];
      const In* row = a.data() + at / S.n * S.k;
      Out expected = c[static_cast<std::size_t>(at)];
      for (int repeat = 0; repeat < 2; ++repeat)
        expected = sum_of_products<kEmulatedUnit, S.k>(expected, row, column);
      const Out got = d[static_cast<std::size_t>(at)];
      ASSERT_TRUE(std::memcmp(&got, &expected, sizeof got) == 0 || (sizeof got == 8 && got != got))
          << testing::kOperandNames[kind] << ", element " << at << ": " << got << ", not "
          << expected;
    }
  }
}

TEST(TensorCore, SumsHaveTheBitsOfTheUnit) {
  expect_bits_of_the_unit<double, double, MmaShape{16, 8, 16}>();
  expect_bits_of_the_unit<double, double, MmaShape{16, 8, 8}>();
  expect_bits_of_the_unit<float, float, MmaShape{16, 8, 8}>();
  expect_bits_of_the_unit<float, float, MmaShape{16, 8, 4}>();
  expect_bits_of_the_unit<float, f16, MmaShape{16, 8, 16}>();
  expect_bits_of_the_unit<float, f16, MmaShape{16, 8, 8}>();
  expect_bits_of_the_unit<float, bf16, MmaShape{16, 8, 16}>();
  expect_bits_of_the_unit<float, bf16, MmaShape{16, 8, 8}>();
  expect_bits_of_the_unit<float, f8e4m3, MmaShape{16, 8, 32}>();
  expect_bits_of_the_unit<float, f8e5m2, MmaShape{16, 8, 32}>();
  expect_bits_of_the_unit<std::int32_t, std::int8_t, MmaShape{16, 8, 32}>();
  expect_bits_of_the_unit<std::int32_t, std::uint8_t, MmaShape{16, 8, 32}>();
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
  using Double = TensorCore<double, double, MmaShape{16, 8, 16}>;
  EXPECT_EQ(Double::layout_a(5, 1), 9 + 16 * 1);   // a1: row 9, column 1
  EXPECT_EQ(Double::layout_a(5, 6), 1 + 16 * 13);  // a6: row 1, column 13
  EXPECT_EQ(Double::layout_b(5, 3), 1 + 8 * 13);   // b3: k 13
  EXPECT_EQ(Double::layout_c(5, 3), 9 + 16 * 3);   // c3: row 9, column 3
  using HalfAsDeep = TensorCore<double, double, MmaShape{16, 8, 8}>;
  EXPECT_EQ(HalfAsDeep::layout_a(5, 1), 9 + 16 * 1);  // a1: row 9, column 1
  EXPECT_EQ(HalfAsDeep::layout_a(5, 2), 1 + 16 * 5);  // a2: row 1, column 5
  EXPECT_EQ(HalfAsDeep::layout_b(5, 1), 1 + 8 * 5);   // b1: k 5
}

TEST(TensorCore, KnownLanesOfTheFragmentsOf64) {
  // AMD Matrix Instruction Calculator, --get-register, CDNA1: A[i][k], B[k][j] and D[i][j] of
  // v_mfma_f32_16x16x4f32, v_mfma_f32_16x16x16f16 and v_mfma_f32_32x32x8f16. A register of halves
  // is two values.
  const auto holds = [](const Layout& layout, int lane, int value, index_t row, index_t extent,
                        index_t column) {
    EXPECT_EQ(layout(lane, value), row + extent * column) << "lane " << lane << ", value " << value;
  };
  using F32 = TensorCore<float, float, MmaShape{16, 16, 4}>;
  holds(F32::layout_a, 53, 0, 5, 16, 3);  // A[5][3] = v0{53}
  holds(F32::layout_b, 57, 0, 9, 16, 3);  // B[3][9] = v0{57}
  holds(F32::layout_c, 25, 1, 5, 16, 9);  // D[5][9] = v1{25}
  using Half = TensorCore<float, f16, MmaShape{16, 16, 16}>;
  holds(Half::layout_a, 5, 3, 5, 16, 3);     // A[5][3] = v1{5}.[31:16]
  holds(Half::layout_a, 63, 2, 15, 16, 14);  // A[15][14] = v1{63}.[15:0]
  holds(Half::layout_b, 39, 1, 7, 16, 9);    // B[9][7] = v0{39}.[31:16]
  holds(Half::layout_c, 48, 3, 15, 16, 0);   // D[15][0] = v3{48}
  using Wide = TensorCore<float, f16, MmaShape{32, 32, 8}>;
  holds(Wide::layout_a, 63, 3, 31, 32, 7);    // A[31][7] = v1{63}.[31:16]
  holds(Wide::layout_b, 49, 2, 17, 32, 6);    // B[6][17] = v1{49}.[15:0]
  holds(Wide::layout_c, 41, 5, 13, 32, 9);    // D[13][9] = v5{41}
  holds(Wide::layout_c, 32, 15, 31, 32, 0);   // D[31][0] = v15{32}
  holds(Wide::layout_c, 62, 10, 22, 32, 30);  // D[22][30] = v10{62}
}

TEST(TensorCore, F32KeepsAllBitsWith64Lanes) {
  using Mma = TensorCore<float, float, MmaShape{16, 16, 4}>;
  std::vector<float> a(64, 1.0f + 0x1p-20f), b(64, 1.0f), c(256, 0.0f), d(256);
  launch(LaunchConfig{.block = {64}}, OneInstruction<Mma, float, float>{},
         static_cast<const float*>(a.data()), static_cast<const float*>(b.data()),
         static_cast<const float*>(c.data()), d.data());
  EXPECT_EQ(d[77], 8.0f + 8 * 0x1p-20f);
}

/// A (M,K) times B (K,N): a block of two waves of 64 lanes; each owns 32 x 32 of the block's 64
/// x 32.
template <class In, MmaShape S>
struct Waves {
  static constexpr const char* name = "waves";
  static constexpr Dim3 block{128};
  static constexpr int warp = 64;
  struct Shared {
    Tile<In, 64, 16> a;
    Tile<In, 16, 32> b;
  };
  void operator()(auto t, auto A, auto B, auto C) const {
    using Mma = TensorCore<float, In, S>;
    constexpr int rows = 32 / S.m, cols = 32 / S.n;
    auto& stage = shared<Shared>(t);
    auto sA = stage.a.view();               // (64,16)
    auto sB = stage.b.view();               // (16,32)
    auto wA = tile<32, 16>(sA, t.warp, 0);  // (32,16), this wave's rows
    typename Mma::FragmentC acc[rows][cols] = {};
    for (index_t k = 0; k < tiles<1>(A, 16); ++k) {
      t.superstep("load", [&] {
        copy(t, tile<64, 16>(A, t.block.y, k), sA);
        copy(t, tile<16, 32>(B, k, t.block.x), sB);
      });  // sA and sB are complete
      t.superstep("multiply", [&] {
        for (int step = 0; step < 16 / S.k; ++step) {
          for (int r = 0; r < rows; ++r) {
            for (int c = 0; c < cols; ++c) {
              Mma::mma(t, acc[r][c], Mma::load_a(t, tile<S.m, S.k>(wA, r, step)),
                       Mma::load_b(t, tile<S.k, S.n>(sB, step, c)));
            }
          }
        }
      });  // sA and sB may be overwritten
    }
    auto wC = tile<32, 32>(tile<64, 32>(C, t.block.y, t.block.x), t.warp, 0);  // (32,32), clipped
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < cols; ++c) Mma::store_d(t, tile<S.m, S.n>(wC, r, c), acc[r][c]);
    }
  }
};

template <class In, MmaShape S>
void expect_waves_multiply(index_t M, index_t N, index_t K) {
  HostTensor<In> a(M, K), b(K, N);
  HostTensor<float> c(M, N);
  for (index_t i = 0; i < a.size(); ++i) a.data()[i] = In(static_cast<float>(i * 7 % 9) - 4);
  for (index_t i = 0; i < b.size(); ++i) b.data()[i] = In(static_cast<float>(i * 5 % 7) - 3);
  for (const ThreadOrder order :
       {ThreadOrder::forward, ThreadOrder::backward, ThreadOrder::shuffled}) {
    fill(c.view(), std::numeric_limits<float>::quiet_NaN());
    launch(
        LaunchConfig{.grid = {static_cast<int>(ceil_div(N, 32)), static_cast<int>(ceil_div(M, 64))},
                     .block = Waves<In, S>::block,
                     .order = order,
                     .seed = 3},
        Waves<In, S>{}, a.view(), b.view(), c.view());
    for (index_t i = 0; i < M; ++i) {
      for (index_t j = 0; j < N; ++j) {
        float expected = 0;
        for (index_t k = 0; k < K; ++k)
          expected += static_cast<float>(a(i, k)) * static_cast<float>(b(k, j));
        ASSERT_EQ(c(i, j), expected) << i << "," << j;
      }
    }
  }
}

TEST(TensorCore, WavesOf64LanesMultiplyMatrices) {
  expect_waves_multiply<float, MmaShape{16, 16, 4}>(64, 32, 16);
  expect_waves_multiply<float, MmaShape{16, 16, 4}>(71, 45, 23);
  expect_waves_multiply<f16, MmaShape{16, 16, 16}>(71, 45, 23);
  expect_waves_multiply<f16, MmaShape{32, 32, 8}>(71, 45, 23);
  expect_waves_multiply<bf16, MmaShape{32, 32, 8}>(130, 31, 17);
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
  EXPECT_EQ(d[77], 16.0f);                   // the bits below TF32 are gone
  a[5] = std::bit_cast<float>(0x7f800001u);  // a NaN without them would be an infinity
  launch(LaunchConfig{.block = {32}}, OneInstruction<Mma, float, float>{},
         static_cast<const float*>(a.data()), static_cast<const float*>(b.data()),
         static_cast<const float*>(c.data()), d.data());
  EXPECT_TRUE(std::isnan(d[0]));
}

}  // namespace
}  // namespace tessera
