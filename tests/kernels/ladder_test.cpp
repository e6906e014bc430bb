// Every kernel of the ladder, through the library: every shape, stride, type, alpha and beta,
// thread order.
#include <gtest/gtest.h>

#include "support/products.hpp"
#include "tessera/cpu/gemm.hpp"

namespace tessera {
namespace {

using testing::Guarded;
using testing::RandomData;

struct Case {
  std::string algorithm;
  TileShape tile;
};

std::vector<Case> all_cases() {
  std::vector<Case> out;
  for (const auto& algorithm : algorithms()) {
    for (const auto& tile : algorithm.tiles) out.push_back({std::string(algorithm.name), tile});
  }
  return out;
}

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  std::string name = info.param.algorithm + "_" + to_string(info.param.tile);
  for (char& c : name) c = c == '/' ? '_' : c;
  return name;
}

template <class T>
using Order = typename Guarded<T>::Order;

/// Runs one product and demands: within the bound, same bits where promised, guards and inputs
/// untouched.
template <class In, class Out>
void expect_right(const Case& which, testing::Shape s, double alpha, double beta, int orders,
                  Options options = {}) {
  const auto order_of = [&](int shift) { return orders >> shift & 3; };
  Guarded<In> A(s.M, s.K, static_cast<Order<In>>(order_of(0)), s.padding),
      B(s.K, s.N, static_cast<Order<In>>(order_of(2)), s.padding);
  Guarded<Out> C(s.M, s.N, static_cast<Order<Out>>(order_of(4)), s.padding);
  const auto numbers = [](std::uint64_t seed) {
    return [data = RandomData(seed, std::is_integral_v<In>)](index_t i, index_t j) mutable {
      return std::is_unsigned_v<In> ? std::abs(data(i, j)) : data(i, j);
    };
  };
  A.fill(numbers(1));
  B.fill(numbers(2));
  if (beta != 0) C.fill(numbers(3));
  Guarded<Out> C0 = C;
  const Problem problem = make_problem(A.view(), B.view(), C.view(), alpha, beta);
  options.algorithm = which.algorithm;
  options.tile = which.tile;
  const Plan plan = make_plan(problem, options);
  run(plan, A.view(), B.view(), C.view());
  const Verifier verifier(problem, A.view(), B.view(), C0.view());
  const Algorithm& algorithm = find_algorithm(which.algorithm);
  const bool same_bits =
      algorithm.same_bits || algorithm.promises_bits(dtype_of<In>()) || std::is_integral_v<In>;
  // Promised for f32 and f64; kept for all types, but by instructions that multiply pairs of bf16.
  const bool pairs =
      which.algorithm == "packed" && std::is_same_v<In, bf16> && !cpu::bf16_keeps_the_chain();
  const auto result =
      verifier.check(C.view(), find_algorithm(which.algorithm).arithmetic(dtype_of<In>()));
  EXPECT_TRUE(result.within_bound)
      << to_string(plan) << ": error / bound = " << result.max_error_ratio << " at (" << result.row
      << "," << result.col << "): expected " << result.expected << ", got " << result.got;
  if (same_bits && !pairs) {
    EXPECT_TRUE(result.same_bits) << to_string(plan);
  }
  EXPECT_TRUE(A.guards_intact() && B.guards_intact() && C.guards_intact()) << to_string(plan);
}

class Ladder : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Cpu, Ladder, ::testing::ValuesIn(all_cases()), case_name);

TEST_P(Ladder, IsRightForEveryShape) {
  const auto& tile = GetParam().tile;
  const index_t extent =
      tile.bm == 0 ? 48 : std::min(tile.bm, 64);  // packed has no tile: one panel
  for (const auto& shape : testing::nasty_shapes(extent))
    expect_right<float, float>(GetParam(), shape, 1, 0, 0);
}

/// Rows that begin at multiples of vectors, as most do: whole tiles, edges, and a K beyond tiles.
TEST_P(Ladder, MovesInVectors) {
  for (const auto& shape : {testing::Shape{264, 136, 40, 0}, testing::Shape{136, 264, 72, 8},
                            testing::Shape{128, 256, 64, 0}, testing::Shape{8, 8, 8, 0}})
    expect_right<float, float>(GetParam(), shape, 1, 0, 0);
}

TEST_P(Ladder, IsRightForEveryStride) {
  for (int orders = 0; orders < 64; ++orders) {
    if ((orders & 3) == 3 || (orders >> 2 & 3) == 3 || (orders >> 4 & 3) == 3) continue;
    expect_right<float, float>(GetParam(), {37, 41, 19}, 1, 0, orders);
  }
}

TEST_P(Ladder, AppliesAlphaAndBetaOnce) {
  for (const double alpha : {0.0, 1.0, -1.0, 0.7}) {
    for (const double beta : {0.0, 1.0, -1.3})
      expect_right<float, float>(GetParam(), {33, 17, 21}, alpha, beta, 16);
  }
}

TEST_P(Ladder, DoesNotDependOnThreadsOrOrder) {
  for (const ThreadOrder order :
       {ThreadOrder::forward, ThreadOrder::backward, ThreadOrder::shuffled}) {
    for (const int threads : {1, 2, 5}) {
      expect_right<float, float>(GetParam(), {70, 66, 35}, 0.5, 2, 0,
                                 {.threads = threads, .order = order, .seed = 99});
    }
  }
}

/// Calls body.operator()<In, Out>(tile) for the types of an algorithm's products and the tile that
/// they have in place of `tile`, where one is built.
template <class Body>
void for_each_type(const Case& which, const Body& body) {
  const Algorithm& algorithm = find_algorithm(which.algorithm);
  const auto at = std::find(algorithm.tiles.begin(), algorithm.tiles.end(), which.tile);
  const auto number = static_cast<std::size_t>(at - algorithm.tiles.begin());
  const auto take = [&]<class In, class Out>() {
    if (!algorithm.supports(dtype_of<In>(), dtype_of<Out>())) return;
    // Other tiles are built in for f32 only; plan_test shows the refusal.
    if (static_cast<int>(number) >= algorithm.typed_of(dtype_of<In>())) return;
    body.template operator()<In, Out>(algorithm.tiles_of(dtype_of<In>())[number]);
  };
  take.template operator()<double, double>();
  take.template operator()<f16, f16>();
  take.template operator()<f16, float>();
  take.template operator()<bf16, bf16>();
  take.template operator()<bf16, float>();
  take.template operator()<std::int32_t, std::int32_t>();
  take.template operator()<std::int8_t, std::int32_t>();
  take.template operator()<std::uint8_t, std::int32_t>();
}

TEST_P(Ladder, MultipliesEveryType) {
  for_each_type(GetParam(), [&]<class In, class Out>(const TileShape& tile) {
    const Case which{GetParam().algorithm, tile};
    const bool whole = std::is_integral_v<In>;
    expect_right<In, Out>(which, {67, 35, 41}, whole ? 3 : 0.5, whole ? -2 : 1, 0);
    for (const int orders : {1, 4, 16}) expect_right<In, Out>(which, {67, 35, 41}, 1, 0, orders);
    // Whole tiles and edges, all of which move in vectors.
    expect_right<In, Out>(which, {272, 144, 80, 0}, 1, 0, sizeof(In) == 1 ? 4 : 0);
  });
}

TEST_P(Ladder, NoTypeDependsOnThreadsOrOrder) {
  for_each_type(GetParam(), [&]<class In, class Out>(const TileShape& tile) {
    for (const ThreadOrder order : {ThreadOrder::backward, ThreadOrder::shuffled})
      expect_right<In, Out>({GetParam().algorithm, tile}, {70, 66, 40}, 1, 0, 0,
                            {.threads = 2, .order = order, .seed = 99});
  });
}

TEST_P(Ladder, BetaZeroIgnoresNanInC) {
  Guarded<float> A(5, 6), B(6, 7), C(5, 7);  // C starts as NaN
  A.fill(RandomData(1));
  B.fill(RandomData(2));
  matmul(A.view(), B.view(), C.view(), 1, 0,
         {.algorithm = GetParam().algorithm, .tile = GetParam().tile});
  for (index_t i = 0; i < 5; ++i) {
    for (index_t j = 0; j < 7; ++j) EXPECT_EQ(C(i, j), C(i, j));
  }
}

TEST_P(Ladder, AlphaZeroReadsNeitherANorB) {
  Guarded<float> A(5, 6), B(6, 7), C(5, 7);  // A and B are NaN
  C.fill([](index_t i, index_t j) { return static_cast<double>(i + j); });
  matmul(A.view(), B.view(), C.view(), 0, 2,
         {.algorithm = GetParam().algorithm, .tile = GetParam().tile});
  for (index_t i = 0; i < 5; ++i) {
    for (index_t j = 0; j < 7; ++j) EXPECT_EQ(C(i, j), static_cast<float>(2 * (i + j)));
  }
}

TEST_P(Ladder, CarriesNanAndInfinityToTheirRowAndColumnOnly) {
  const bool has_planes = GetParam().algorithm == "three_bf16";
  const index_t M = 37, N = 35, K = 33;
  Guarded<float> A(M, K), B(K, N), C(M, N);
  A.fill(RandomData(1));
  B.fill(RandomData(2));
  A(5, 7) = std::numeric_limits<float>::quiet_NaN();
  B(9, 11) = std::numeric_limits<float>::infinity();
  matmul(A.view(), B.view(), C.view(), 1, 0,
         {.algorithm = GetParam().algorithm, .tile = GetParam().tile});
  for (index_t i = 0; i < M; ++i) {
    for (index_t j = 0; j < N; ++j) {
      if (i == 5) EXPECT_TRUE(std::isnan(C(i, j)));
      // An infinity times a lesser plane that is 0 is NaN.
      else if (j == 11) EXPECT_TRUE(std::isinf(C(i, j)) || (has_planes && std::isnan(C(i, j))));
      else EXPECT_TRUE(std::isfinite(C(i, j)));
    }
  }
}

// The puzzles' exact configurations: A[r,c] = r size + c, B = 2 A.
void expect_puzzle(const char* algorithm, TileShape tile, index_t size,
                   const std::vector<float>& expected) {
  std::vector<float> A(static_cast<std::size_t>(size * size)), B(A.size()), C(A.size());
  for (std::size_t i = 0; i < A.size(); ++i) A[i] = static_cast<float>(i), B[i] = 2 * A[i];
  matmul(matrix(A.data(), size, size), matrix(B.data(), size, size), matrix(C.data(), size, size),
         1, 0, {.algorithm = algorithm, .tile = tile});
  EXPECT_EQ(C, expected) << algorithm;
}

TEST(Puzzles, TwoByTwoGivesTheBooksNumbers) {
  for (const char* algorithm : {"naive", "coalescing", "tiled", "single_block", "tiled_by_hand",
                                "tiled_idiomatic", "block_tiled"}) {
    expect_puzzle(algorithm, {}, 2, {4, 6, 12, 22});
  }
}

TEST(Puzzles, NineByNineGivesTheBooksNumbers) {
  std::vector<float> expected(81);
  for (int r = 0; r < 9; ++r) {  // row r starts at 3672 + 5832 r and rises by 72 + 162 r
    for (int c = 0; c < 9; ++c)
      expected[static_cast<std::size_t>(r * 9 + c)] =
          static_cast<float>(3672 + 5832 * r + c * (72 + 162 * r));
  }
  ASSERT_EQ(expected[80], 61272);
  ASSERT_EQ(expected[40], 29880);
  const TileShape three{.bm = 3, .bn = 3, .bk = 3};
  for (const char* algorithm : {"tiled", "tiled_by_hand", "tiled_idiomatic", "single_block"})
    expect_puzzle(algorithm, three, 9, expected);
  for (const char* algorithm :
       {"naive", "tiled_register", "block_tiled_vectorized", "sarek_naive", "sarek_tiled"}) {
    expect_puzzle(algorithm, {}, 9, expected);
  }
}

TEST(Puzzles, ATimesATransposedGivesOneThreeThreeThirteen) {
  const std::vector<float> A = {0, 1, 2, 3};
  std::vector<float> C(4, -1);
  const auto a = matrix(A.data(), 2, 2);
  for (const auto& algorithm : algorithms()) {
    matmul(a, transposed(a), matrix(C.data(), 2, 2), 1, 0,
           {.algorithm = std::string(algorithm.name)});
    EXPECT_EQ(C, (std::vector<float>{1, 3, 3, 13})) << algorithm.name;
  }
}

}  // namespace
}  // namespace tessera
