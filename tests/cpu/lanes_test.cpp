// The order `lanes`: products in dot form have the bits of sum_by_lanes() for every instruction
// set, shape, alignment, orientation of C, epilogue, number of threads and in batches; all others
// have those of the chain.
#include "tessera/cpu/lanes.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cfenv>
#include <limits>
#include <vector>

#include "cpu/multiply.hpp"
#include "cpu/tables.hpp"
#include "reported_route.hpp"
#include "tessera/core/team.hpp"
#include "tessera/cpu/batch.hpp"
#include "tessera/cpu/gemm_plan.hpp"

namespace tessera::cpu {
namespace {

using testing::Guarded;
using testing::Order;
using testing::RandomData;
using testing::same;

template <class T>
class Lanes : public ::testing::Test {};
TYPED_TEST_SUITE(Lanes, testing::RealTypes, testing::TypeNames);

template <class T>
T sum_in_chain(index_t K, const T* a, const T* b) {
  T sum = 0;
  for (index_t k = 0; k < K; ++k) sum = std::fma(a[k], b[k], sum);
  return sum;
}

/// A (M,K) by rows and B (K,N) by columns, on any alignment, and a C in any order.
template <class T>
struct DotForm {
  Guarded<T> a, b, c;
  std::vector<T> bias;

  DotForm(index_t M, index_t N, index_t K, Order<T> order = Order<T>::row_major,
          index_t padding = 3, std::uint64_t seed = 1)
      : a(M, K, Order<T>::row_major, padding),
        b(K, N, Order<T>::col_major, padding),
        c(M, N, order, padding),
        bias(static_cast<std::size_t>(std::max(M, N))) {
    a.fill(RandomData(seed)), b.fill(RandomData(seed + 1)), c.fill(RandomData(seed + 2));
    RandomData data(seed + 3);
    for (T& x : bias) x = static_cast<T>(data(0, 0));
  }
  Gemm<T> call(Gemm<T> how = {}) {
    how.arithmetic = Arithmetic::lanes;
    return testing::call_on(how, a.view(), b.view(), c.view());
  }
  const T* row(index_t i) { return &a(i, 0); }
  const T* column(index_t j) { return &b(0, j); }
  /// By definition.
  T sum(index_t i, index_t j) {
    const index_t K = a.cols();
    return takes_lanes<T>(c.rows(), c.cols(), K, 1, 1) ? sum_by_lanes(K, row(i), column(j))
                                                       : sum_in_chain(K, row(i), column(j));
  }
  /// Runs `how`; "" where C has the bits that it must.
  std::string wrong(const Gemm<T>& how = {}) {
    const Guarded<T> before = c;
    const Gemm<T> all = call(how);
    gemm(all);
    const EpilogueScalars<T> scalars{all.alpha, all.beta, all.last};
    std::string out = testing::difference(c, [&](index_t i, index_t j) {
      return finish(
          scalars, all.alpha == T{0} ? T{0} : sum(i, j), [&] { return before(i, j); },
          all.bias.at(i, j));
    });
    if (out.empty() && !c.guards_intact()) out = "wrote outside of C";
    return out.empty() ? out : cat(out, " of ", testing::describe(all));
  }
};

TEST(LanesRule, DependsOnShapeAndStridesAlone) {
  EXPECT_TRUE(takes_lanes<float>(1, 1, 16, 1, 1));
  EXPECT_FALSE(takes_lanes<float>(1, 1, 15, 1, 1));
  EXPECT_TRUE(takes_lanes<double>(1, 1, 8, 1, 1));
  EXPECT_FALSE(takes_lanes<double>(2, 2, 15, 1, 1));
  EXPECT_TRUE(takes_lanes<float>(16, 1000, 256, 1, 1));
  EXPECT_FALSE(takes_lanes<float>(16, 1000, 255, 1, 1));
  EXPECT_FALSE(takes_lanes<float>(17, 17, 10'000, 1, 1));
  EXPECT_FALSE(takes_lanes<float>(0, 5, 100, 1, 1));
  EXPECT_FALSE(takes_lanes<float>(1, 1, 100, 2, 1));
  EXPECT_FALSE(takes_lanes<float>(1, 1, 100, 1, 2));
  for (index_t M = 1; M < 20; ++M)
    for (index_t N = 1; N < 20; ++N)
      for (const index_t K : {1, 16, 100, 300})
        ASSERT_EQ(takes_lanes<float>(M, N, K, 1, 1), takes_lanes<float>(N, M, K, 1, 1));
}

TEST(LanesReference, IsSixteenChainsAndATree) {
  float a[18] = {}, b[18] = {};
  for (float& x : b) x = 1;
  a[0] = 0x1p30f, a[8] = -0x1p30f, a[1] = 1, a[16] = 1, a[17] = 1;
  // (0, 8) meet before anything else; the one at 16 has joined the chain of 0 and is swallowed.
  EXPECT_EQ(sum_by_lanes<float>(18, a, b), 2);
}

TYPED_TEST(Lanes, OfEveryInstructionSetHaveTheBitsOfTheReference) {
  using T = TypeParam;
  int tables = 0;
  for (const auto* table : testing::runnable_tables<T>()) {
    if (table->lane_sums == nullptr) continue;
    ++tables;
    for (index_t rows = 1; rows <= 9; ++rows)
      for (const index_t cols : {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 31, 33, 50})
        for (index_t K = 0; K <= 40; K += K < 18 ? 1 : 11) {
          DotForm<T> x(rows, cols, K, Order<T>::row_major, (rows + cols + K) % 17);
          const Gemm<T> call = x.call();
          table->lane_sums({K, call.A, call.a_row, 1, call.B, 1, call.b_col, call.C, call.c_row},
                           rows, cols);
          ASSERT_EQ(testing::difference(x.c,
                                        [&](index_t i, index_t j) {
                                          return sum_by_lanes(K, x.row(i), x.column(j));
                                        }),
                    "")
              << table->isa << " " << rows << "x" << cols << "x" << K;
          ASSERT_TRUE(x.c.guards_intact()) << table->isa << " " << rows << "x" << cols << "x" << K;
        }
  }
  EXPECT_EQ(tables, static_cast<int>(testing::runnable_sets().size()));
}

TYPED_TEST(Lanes, AreTakenByEdgeShapesAndNoOthers) {
  using T = TypeParam;
  for (const index_t M : {1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 17, 40})
    for (const index_t N : {1, 2, 3, 6, 9, 16, 17, 33, 70})
      for (const index_t least = kLanes<T> * std::min(M, N);
           const index_t K : {index_t{1}, index_t{17}, least - 1, least, least + 5, least + 64}) {
        DotForm<T> x(M, N, K, Order<T>::row_major, (M + N) % 16);
        ASSERT_EQ(x.wrong({.threads = 1}), "");
      }
}

TYPED_TEST(Lanes, HaveEveryOrderOfCAndEveryEpilogue) {
  using T = TypeParam;
  for (const auto order : testing::kOrders<T>)
    for (const auto& [M, N] : {std::pair<index_t, index_t>{1, 70}, {70, 1}, {3, 9}, {9, 3}, {1, 1}})
      for (const auto kind : {Bias::none, Bias::per_row, Bias::per_column})
        for (const auto& [alpha, beta] :
             {std::pair<T, T>{1, 0}, {1, 1}, {T(0.3), 0}, {-1, T(0.7)}, {0, T(0.7)}})
          for (const auto activation : {Activation::none, Activation::relu, Activation::silu}) {
            DotForm<T> x(M, N, 150, order);
            ASSERT_EQ(x.wrong({.alpha = alpha,
                               .beta = beta,
                               .bias = {kind, kind == Bias::none ? nullptr : x.bias.data()},
                               .last = {.activation = activation},
                               .threads = 1}),
                      "");
          }
}

TYPED_TEST(Lanes, DoNotDependOnThreads) {
  using T = TypeParam;
  always_use_workers();
  for (const auto& [M, N, K] : {std::array<index_t, 3>{1, 3000, 300},
                                {2500, 2, 300},
                                {16, 700, 333},
                                {1, 1, 100'000},
                                {600, 13, 500}})
    for (const int threads : testing::kThreads)
      for (const T beta : {T(0), T(0.5)}) {
        DotForm<T> x(M, N, K);
        ASSERT_EQ(x.wrong({.beta = beta, .threads = threads}), "");
      }
}

TYPED_TEST(Lanes, DoNotDependOnAlignment) {
  using T = TypeParam;
  for (index_t padding = 0; padding < 17; ++padding) {
    DotForm<T> x(3, 19, 301, Order<T>::row_major, padding);
    ASSERT_EQ(x.wrong({.threads = 1}), "");
  }
}

TYPED_TEST(Lanes, AreTheSameInBatchesAndPlans) {
  using T = TypeParam;
  constexpr index_t kCount = 7, M = 4, N = 11, K = 130;
  for (const int threads : testing::kThreads) {
    std::vector<DotForm<T>> products;
    std::vector<Gemm<T>> calls;
    for (index_t i = 0; i < kCount; ++i)
      products.emplace_back(M + i, N, K, Order<T>::row_major, i, static_cast<std::uint64_t>(i));
    for (auto& each : products) calls.push_back(each.call({.threads = threads}));
    gemm_batch(calls.data(), kCount);
    for (auto& each : products)
      ASSERT_EQ(testing::difference(each.c, [&](index_t i, index_t j) { return each.sum(i, j); }),
                "");
    DotForm<T> all(kCount * M, N, K);
    Gemm<T> first = all.call({.threads = threads});
    first.M = M;
    gemm_strided(first, kCount, {M * first.a_row, 0, M * first.c_row});
    ASSERT_EQ(testing::difference(
                  all.c,
                  [&](index_t i, index_t j) { return sum_by_lanes(K, all.row(i), all.column(j)); }),
              "");
  }
  for (const auto order : {Order<T>::row_major, Order<T>::col_major}) {
    DotForm<T> x(2, 3, 40, order);
    const Gemm<T> call = x.call();
    GemmPlan<T>{call}(call.A, call.B, call.C);
    ASSERT_EQ(testing::difference(x.c, [&](index_t i, index_t j) { return x.sum(i, j); }), "");
  }
}

TYPED_TEST(Lanes, HaveTheReferencesSpecialValuesAndFlags) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  constexpr int kFlags = FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW | FE_DIVBYZERO;
  const T values[] = {
      Limits::quiet_NaN(),  Limits::infinity(),    -Limits::infinity(), T(-0.0),
      Limits::denorm_min(), -Limits::denorm_min(), Limits::max(),       Limits::min()};
  for (const T value : values)
    for (const index_t at : {0, 1, 15, 16, 31, 32, 35, 36})
      for (const bool in_b : {false, true}) {
        DotForm<T> x(2, 5, 37);
        if (in_b) x.b(at, 3) = value;
        else x.a(1, at) = value;
        std::feclearexcept(FE_ALL_EXCEPT);
        [[maybe_unused]] volatile T expected = 0;  // computed, for its flags
        for (index_t i = 0; i < 2; ++i)
          for (index_t j = 0; j < 5; ++j) expected = x.sum(i, j);
        const int flags = std::fetestexcept(kFlags);
        std::feclearexcept(FE_ALL_EXCEPT);
        gemm(x.call());
        const int got = std::fetestexcept(kFlags);
        ASSERT_EQ(got & ~flags, 0) << "raised more than the reference, " << value << " at " << at;
        ASSERT_EQ(testing::difference(x.c, [&](index_t i, index_t j) { return x.sum(i, j); }), "");
      }
  std::feclearexcept(FE_ALL_EXCEPT);
}

TYPED_TEST(Lanes, RoundAsTheCallerAsks) {
  using T = TypeParam;
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    DotForm<T> x(3, 7, 61);
    const std::string wrong = x.wrong({.threads = 1});
    std::fesetround(FE_TONEAREST);
    ASSERT_EQ(wrong, "") << "mode " << mode;
  }
}

TYPED_TEST(Lanes, SayTheirRoute) {
  using T = TypeParam;
  DotForm<T> x(33, 2, 512);
  EXPECT_EQ(route_of(x.call()).name, "lanes");
  EXPECT_EQ(workspace_bytes(x.call()), 0u);
  Gemm<T> chain = x.call();
  chain.arithmetic = Arithmetic::chain;
  EXPECT_NE(route_of(chain).name, "lanes");
}

/// Chains that go on over parts of K are chains whatever is asked.
TYPED_TEST(Lanes, AreNotTakenBySumsThatGoOn) {
  using T = TypeParam;
  DotForm<T> x(2, 9, 256);
  x.c.fill([](index_t, index_t) { return 0; });
  gemm(x.call({.chain = Chain::goes_on}));
  EXPECT_EQ(testing::difference(x.c,
                                [&](index_t i, index_t j) {
                                  return sum_in_chain(index_t{256}, x.row(i), x.column(j));
                                }),
            "");
}

RC_GTEST_PROP(LanesFuzz, AnyProductHasItsDefinedBits, ()) {
  const auto check = [&]<class T>(T) {
    const bool tall = *rc::gen::arbitrary<bool>();
    const index_t thin = *rc::gen::inRange<index_t>(1, 19),
                  wide = *rc::gen::inRange<index_t>(1, 90), K = *rc::gen::inRange<index_t>(0, 420),
                  padding = *rc::gen::inRange<index_t>(0, 20);
    const auto order = *rc::gen::elementOf(
        std::vector<Order<T>>(testing::kOrders<T>.begin(), testing::kOrders<T>.end()));
    DotForm<T> x(tall ? wide : thin, tall ? thin : wide, K, order, padding,
                 *rc::gen::arbitrary<std::uint64_t>());
    const T alpha = *rc::gen::element(T(1), T(-2), T(0)),
            beta = *rc::gen::element(T(0), T(1), T(3));
    RC_ASSERT(x.wrong({.alpha = alpha, .beta = beta, .threads = *rc::gen::inRange(1, 4)}) == "");
  };
  if (*rc::gen::arbitrary<bool>()) check(float{});
  else check(double{});
}

}  // namespace
}  // namespace tessera::cpu
