// Several products in one launch of the kernel of warpgroup units, and K in parts, on the CPU
// engine: the bits of the same products alone, for any extents, orders of memory and epilogues, in
// every order of threads.
#include "matmul/warpgroup_group.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <random>

#include "matmul/byte_rows.hpp"
#include "support/products.hpp"
#include "support/refusal.hpp"

namespace tessera {
namespace {

using testing::aligned;
using testing::Guarded;
using testing::RandomData;
using testing::refusal;

constexpr ThreadOrder kOrders[] = {ThreadOrder::forward, ThreadOrder::shuffled, ThreadOrder::late};

struct Extents {
  index_t M, N, K;
};

/// The operands of products of one pair of types, in all orders of memory.
template <class In, class Out>
struct Group {
  struct Matrices {
    Guarded<In> A, B;
    Guarded<Out> C, alone;
  };
  std::deque<Matrices> all;
  std::deque<detail::ByteRows> byte_rows;  ///< at multiples of 16 bytes
  std::vector<detail::GroupedProduct> products;
  std::vector<float> bias = std::vector<float>(1000);

  Group(const std::vector<Extents>& shapes, double alpha, double beta,
        const Epilogue& epilogue = {}) {
    for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = 0.25f * static_cast<float>(i % 9) - 1;
    unsigned seed = 0;
    for (const Extents& x : shapes) {
      ++seed;
      // Elements of one byte and f32 are read along K only.
      const bool a_by_columns = sizeof(In) == 2 && seed % 2 == 0;
      const bool b_by_columns = sizeof(In) != 2 || seed % 3 == 0;
      auto& m = all.emplace_back(
          Matrices{aligned<In>(x.M, x.K, a_by_columns), aligned<In>(x.K, x.N, b_by_columns),
                   aligned<Out>(x.M, x.N, seed % 5 == 0), aligned<Out>(x.M, x.N, seed % 5 == 0)});
      m.A.fill(RandomData(seed));
      m.B.fill(RandomData(seed + 100));
      if (beta != 0) m.C.fill(RandomData(3));  // else NaN, as guards are
      m.alone = m.C;
      const Problem p = make_problem(m.A.view(), m.B.view(), m.C.view(), alpha, beta, epilogue);
      if (sizeof(In) == 1) {
        auto& rows = byte_rows.emplace_back(p, m.A.view().data, m.B.view().data);
        products.push_back(
            {rows.problem, rows.A.data(), rows.B.data(), m.C.view().data, bias.data()});
      } else {
        products.push_back({p, m.A.view().data, m.B.view().data, m.C.view().data, bias.data()});
      }
    }
  }

  void expect_the_bits_of_each_alone(const TileShape& tile, ThreadOrder order) {
    detail::run_group_on_engine(products, tile, {.threads = 3, .order = order, .seed = 4});
    for (std::size_t i = 0; i < all.size(); ++i) {
      auto& [A, B, C, alone] = all[i];
      const Problem p = make_problem(A.view(), B.view(), C.view(), products[i].problem.alpha,
                                     products[i].problem.beta, products[i].problem.epilogue);
      run(make_plan(p, {.algorithm = "warpgroup", .threads = 2}), A.view(), B.view(), alone.view(),
          bias.data());
      int wrong = 0;
      for (index_t r = 0; r < p.M; ++r)
        for (index_t c = 0; c < p.N; ++c)
          wrong += std::memcmp(&C(r, c), &alone(r, c), sizeof(Out)) != 0;
      EXPECT_EQ(wrong, 0) << "product " << i << ": " << to_string(p) << ", " << name(order);
      EXPECT_TRUE(C.guards_intact()) << to_string(p);
    }
  }
};

const std::vector<Extents>& unequal() {
  static const std::vector<Extents> all = {
      {70, 45, 130},  {0, 5, 3}, {128, 64, 64}, {1, 1, 1},     {5, 0, 9},
      {130, 200, 72}, {8, 8, 0}, {1, 300, 7},   {257, 3, 200}, {64, 129, 65}};
  return all;
}

template <class In, class Out>
void expect_groups_right() {
  for (const TileShape& tile : detail::group_tiles(dtype_of<In>())) {
    for (const auto order : kOrders) {
      Group<In, Out>(unequal(), 1, 0).expect_the_bits_of_each_alone(tile, order);
      Group<In, Out>(unequal(), sizeof(In) == 1 ? 2 : 0.7, -1)
          .expect_the_bits_of_each_alone(tile, order);
    }
  }
}

TEST(WarpgroupGroup, UnequalProductsHaveTheirBits) {
  expect_groups_right<bf16, bf16>();
  expect_groups_right<f16, float>();
  expect_groups_right<float, float>();
  expect_groups_right<std::int8_t, std::int32_t>();
  expect_groups_right<f8e4m3, float>();
}

TEST(WarpgroupGroup, EveryProductHasTheEpilogue) {
  for (const Bias bias : {Bias::per_row, Bias::per_column})
    Group<bf16, bf16>(unequal(), 1, 0, {Activation::gelu, bias})
        .expect_the_bits_of_each_alone(detail::group_tiles(DType::bf16)[0], ThreadOrder::late);
}

TEST(WarpgroupGroup, ZeroOneAndMoreThanALaunchTakes) {
  for (const TileShape& tile : detail::group_tiles(DType::f16)) {
    for (const std::size_t count : {0, 1, 31, 32, 33, 70})
      Group<f16, f16>(std::vector<Extents>(count, {17, 9, 24}), 1, 0)
          .expect_the_bits_of_each_alone(tile, ThreadOrder::forward);
  }
}

TEST(WarpgroupGroup, AnAlphaOfZeroReadsNoOperand) {
  Group<bf16, float> group(unequal(), 0, 2);
  for (auto& each : group.products) each.A = each.B = nullptr;
  for (const auto order : kOrders)
    detail::run_group_on_engine(group.products, detail::group_tiles(DType::bf16)[1],
                                {.threads = 2, .order = order});
  for (auto& m : group.all)
    for (index_t i = 0; i < m.C.rows(); ++i)
      for (index_t j = 0; j < m.C.cols(); ++j) ASSERT_EQ(m.C(i, j), 8 * m.alone(i, j));
}

/// The sums of the parts, each a product of its own, added in order.
template <class In, class Out>
void expect_parts_right(std::string_view algorithm, const Extents& x, int parts, ThreadOrder order,
                        double alpha, double beta) {
  Group<In, Out> group({x}, alpha, beta, {Activation::relu, Bias::per_column});
  auto& [A, B, C, alone] = group.all[0];
  const Problem& p = group.products[0].problem;
  using Sum = Accumulator<Out>;
  const index_t along = detail::part_of_k(p, parts);
  std::vector<Sum> sums(static_cast<std::size_t>(x.M * x.N)), part = sums;
  for (index_t k = 0; k < x.K; k += along) {
    const index_t depth = std::min(along, x.K - k);
    const auto cut = [&](Matrix m, bool of_a) -> ConstMatrix {
      m.data = static_cast<In*>(m.data) + k * (of_a ? m.col_stride : m.row_stride);
      (of_a ? m.cols : m.rows) = depth;
      return m;
    };
    matmul(cut(A.view(), true), cut(B.view(), false), matrix(part.data(), x.M, x.N), 1, 0,
           {.algorithm = std::string(algorithm)});
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = k == 0 ? part[i] : sums[i] + part[i];
  }
  const auto C0 = C;
  const auto tiles = algorithm == "thin" ? find_algorithm("thin").tiles : detail::group_tiles(p.in);
  for (const TileShape& tile : tiles) {
    C = C0;
    const Plan plan = make_plan(p, {.algorithm = std::string(algorithm),
                                    .tile = tile,
                                    .threads = 3,
                                    .order = order,
                                    .parts = parts});
    EXPECT_EQ(parse_plan(to_string(plan)).parts, parts);
    EXPECT_EQ(plan.workspace_bytes, ceil_div(x.K, along) * x.M * x.N * 4);
    run(plan, A.view(), B.view(), C.view(), group.bias.data());
    int wrong = 0;
    for (index_t i = 0; i < x.M; ++i) {
      for (index_t j = 0; j < x.N; ++j) {
        Sum value = static_cast<Sum>(alpha) * sums[static_cast<std::size_t>(i * x.N + j)];
        if (beta != 0) value = std::fma(static_cast<Sum>(beta), static_cast<Sum>(C0(i, j)), value);
        value = std::max(value + group.bias[static_cast<std::size_t>(j)], Sum{0});
        wrong += convert<Out>(value) != C(i, j);
      }
    }
    EXPECT_EQ(wrong, 0) << to_string(plan);
    EXPECT_TRUE(C.guards_intact()) << to_string(plan);
  }
}

/// The last part is shorter, or there are fewer parts than were asked for.
TEST(WarpgroupParts, AreAddedInTheirOrder) {
  for (const auto order : kOrders) {
    for (const int parts : {2, 3, 7, 32}) {
      expect_parts_right<bf16, float>("warpgroup", {70, 45, 64 * 7 + 24}, parts, order, 1, 0);
      expect_parts_right<bf16, bf16>("warpgroup", {130, 100, 500}, parts, order, 0.5, -2);
      expect_parts_right<float, float>("warpgroup", {33, 72, 200}, parts, order, 1, 1);
    }
  }
}

TEST(ThinParts, AreAddedInTheirOrder) {
  for (const auto order : kOrders) {
    for (const int parts : {2, 6, 32}) {
      expect_parts_right<bf16, float>("thin", {17, 70, 64 * 7 + 24}, parts, order, 1, 0);
      expect_parts_right<bf16, bf16>("thin", {1, 200, 640}, parts, order, 0.5, -2);
      expect_parts_right<float, float>("thin", {72, 9, 200}, parts, order, 1, 1);
    }
  }
}

TEST(WarpgroupParts, WithoutADepthThereIsNone) {
  for (const double alpha : {0.0, 1.0}) {
    Group<bf16, bf16> group({{20, 30, alpha == 0 ? 64 : 0}}, alpha, 0.5);
    auto& [A, B, C, alone] = group.all[0];
    const Plan plan = make_plan(
        group.products[0].problem,
        {.algorithm = "warpgroup", .tile = detail::group_tiles(DType::bf16)[0], .parts = 4});
    EXPECT_EQ(plan.workspace_bytes, 0);
    run(plan, A.view(), B.view(), C.view());
    for (index_t i = 0; i < 20; ++i)
      for (index_t j = 0; j < 30; ++j)
        ASSERT_EQ(C(i, j), convert<bf16>(0.5f * static_cast<float>(alone(i, j))));
  }
}

TEST(WarpgroupParts, AreRefusedWhereThereAreNone) {
  const Problem p = parse_problem("m=64 n=64 k=512 in=bf16 out=f32");
  const auto said = [&](const Options& options) {
    return refusal([&] { make_plan(p, options); }, Category::argument);
  };
  EXPECT_THAT(said({.algorithm = "naive", .parts = 2}),
              ::testing::HasSubstr("naive does not split K into parts"));
  EXPECT_THAT(said({.algorithm = "warpgroup", .parts = 33}), ::testing::HasSubstr("1 to 32"));
  EXPECT_THAT(said({.algorithm = "warpgroup", .parts = -1}), ::testing::HasSubstr("1 to 32"));
  EXPECT_THAT(said({.algorithm = "warpgroup", .parts = 2}),
              ::testing::HasSubstr("tile 128x256/64x256 is not compiled for parts of K"));
  EXPECT_EQ(make_plan(p, {.parts = 2}).algorithm, "warpgroup");
  const Problem odd = parse_problem("m=64 n=64 k=512 in=bf16 out=f32 a=513:1");
  EXPECT_THAT(
      refusal([&] { make_plan(odd, {.parts = 2}); }, Category::argument),
      ::testing::HasSubstr("K is not split into parts: tensor_core takes its place. A: its rows"));
  const Problem f32 = parse_problem("m=64 n=64 k=512 in=f32 out=f32 b=1:512");
  EXPECT_THAT(refusal([&] { make_plan(f32, {.parts = 2}); }, Category::argument),
              ::testing::HasSubstr("no kernel splits K of f32 and keeps its bits"));
  const Options tf32{
      .algorithm = "warpgroup", .tile = detail::group_tiles(DType::f32)[0], .parts = 2};
  EXPECT_EQ(make_plan(f32, tf32).parts, 2);
}

}  // namespace
}  // namespace tessera
