// The checked PackedMatrix: the bits of the product with the matrix itself for every type, stride
// and epilogue; its errors; one matrix used by many callers.
#include "tessera/matmul/packed_matrix.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "cpu/multiply.hpp"
#include "support/packed_types.hpp"
#include "support/refusal.hpp"
#include "tessera/matmul/batch.hpp"
#include "tessera/matmul/verify.hpp"

namespace tessera {
namespace {

using ::testing::AllOf;
using testing::difference;
using testing::Guarded;
using ::testing::HasSubstr;
using testing::kOrders;
using testing::kThreads;
using testing::RandomData;
using testing::refusal;
using testing::Shape;

template <class T>
class Weight : public ::testing::Test {};
TYPED_TEST_SUITE(Weight, testing::PackedTypes, testing::IntoNames);

TYPED_TEST(Weight, MultipliesLikeTheMatrixItself) {
  using In = typename TypeParam::In;
  using Out = typename TypeParam::Out;
  std::size_t turn = 0;
  for (const Shape s :
       {Shape{1, 1, 1}, {0, 5, 3}, {5, 0, 3}, {5, 6, 0}, {33, 50, 70}, {7, 97, 301}}) {
    for (const auto order_b : kOrders<In>) {
      for (const auto& [alpha, beta] : {std::pair{1, 0}, {3, -2}, {0, 1}}) {
        Guarded<In> A(s.M, s.K, kOrders<In>[turn % 5]), B(s.K, s.N, order_b);
        Guarded<Out> C(s.M, s.N, kOrders<Out>[turn / 5 % 5]);  // NaN, or 77
        A.fill(RandomData(1, std::is_integral_v<In>));
        B.fill(RandomData(2, std::is_integral_v<In>));
        if (beta != 0) C.fill(RandomData(3, true));
        Guarded<Out> expected = C;
        const Options options{.threads = kThreads[turn++ % kThreads.size()]};
        matmul(A.view(), B.view(), expected.view(), alpha, beta, options);
        const PackedMatrix packed(B.view());
        B.fill([](index_t, index_t) { return 0; });  // it is a copy
        EXPECT_EQ(packed.rows(), s.K);
        EXPECT_EQ(packed.cols(), s.N);
        EXPECT_EQ(packed.dtype(), dtype_of<In>());
        EXPECT_GE(packed.bytes(), static_cast<std::size_t>(s.K * s.N) * sizeof(In));
        const Plan plan = matmul(A.view(), packed, C.view(), alpha, beta, options);
        EXPECT_EQ(plan.algorithm, "packed");
        EXPECT_EQ(difference(C, expected), "") << to_string(plan);
        EXPECT_TRUE(C.guards_intact()) << to_string(plan);
        if (this->HasFailure()) return;
      }
    }
  }
}

TYPED_TEST(Weight, TakesItsPartInAnEpilogue) {
  using In = typename TypeParam::In;
  using Out = typename TypeParam::Out;
  using Scalar = typename cpu::Gemm<In, Out>::Scalar;
  const index_t M = 19, N = 45, K = 33;
  Guarded<In> A(M, K), B(K, N);
  A.fill(RandomData(1, true));
  B.fill(RandomData(2, true));
  std::vector<Scalar> bias;
  for (index_t i = 0; i < N; ++i) bias.push_back(static_cast<Scalar>(i * 10 - 200));
  const PackedMatrix packed(B.view());
  for (const Bias kind : {Bias::none, Bias::per_row, Bias::per_column}) {
    for (const Activation activation : {Activation::none, Activation::relu, Activation::silu}) {
      if (std::is_integral_v<Out> && activation == Activation::silu) continue;
      Guarded<Out> C(M, N), expected(M, N);
      const Plan plain = make_plan(
          make_problem(A.view(), B.view(), expected.view(), 2, 0, {activation, kind, -150, 260}));
      run(plain, A.view(), B.view(), expected.view(), bias.data());
      const Plan plan =
          make_plan(make_problem(A.view(), packed, C.view(), 2, 0, {activation, kind, -150, 260}));
      run(plan, A.view(), packed, C.view(), bias.data());
      EXPECT_EQ(difference(C, expected), "") << to_string(plan);
      run(plain, A.view(), packed, C.view(), bias.data());  // B's strides do not matter
      EXPECT_EQ(difference(C, expected), "") << to_string(plain);
    }
  }
}

/// Also plain products, batches and K in parts.
template <class Left, class Right>
void expect_mixed_bytes_right() {
  const index_t M = 19, N = 45, K = 3000;
  Guarded<Left> A(M, K);
  Guarded<Right> B(K, N, Guarded<Right>::Order::col_major);
  A.fill([](index_t i, index_t k) { return std::numeric_limits<Left>::min() + (i * 7 + k) % 256; });
  B.fill(
      [](index_t k, index_t j) { return std::numeric_limits<Right>::max() - (k * 3 + j) % 256; });
  Guarded<std::int32_t> expected(M, N), C(M, N);
  for (index_t i = 0; i < M; ++i) {
    for (index_t j = 0; j < N; ++j) {
      expected(i, j) = 0;
      for (index_t k = 0; k < K; ++k) expected(i, j) += A(i, k) * B(k, j);
    }
  }
  const Problem problem = make_problem(A.view(), B.view(), C.view());
  EXPECT_EQ(parse_problem(to_string(problem)), problem);
  const auto expect_product = [&](std::string_view what) {
    EXPECT_EQ(difference(C, expected), "") << what;
    C.fill([](index_t, index_t) { return 1; });
  };
  for (const char* algorithm : {"auto", "packed", "split_k"}) {
    const Plan plan = matmul(A.view(), B.view(), C.view(), 1, 0, {.algorithm = algorithm});
    EXPECT_EQ(parse_plan(to_string(plan)).problem, plan.problem);
    expect_product(algorithm);
  }
  const Verifier verifier(problem, A.view(), B.view(), C.view());
  EXPECT_TRUE(verifier.check(expected.view()).same_bits);
  EXPECT_FALSE(verifier.check(C.view()).within_bound);
  reference_matmul(problem, A.view(), B.view(), C.view());
  expect_product("reference");
  matmul_strided(A.view(), B.view(), C.view(), 1, {});
  expect_product("strided");
  const Product product{A.view(), B.view(), C.view()};
  matmul_batch({&product, 1});
  expect_product("batch");
  const PackedMatrix packed(B.view(), dtype_of<Left>());
  EXPECT_EQ(packed.dtype(), dtype_of<Right>());
  EXPECT_EQ(packed.dtype_of_a(), dtype_of<Left>());
  matmul(A.view(), packed, C.view());
  expect_product("packed");
  const PackedMatrix for_its_own(B.view());
  EXPECT_THROW(matmul(A.view(), for_its_own, C.view()), Error);
  EXPECT_THROW(matmul(A.view(), B.view(), C.view(), 1, 0, {.algorithm = "naive"}), Error);
  Guarded<float> scaled(M, N);
  matmul(A.view(), B.view(), scaled.view(), 0.5);
  EXPECT_EQ(
      difference(scaled,
                 [&](index_t i, index_t j) { return 0.5f * static_cast<float>(expected(i, j)); }),
      "");
}

TEST(PackedMatrix, BytesOfEitherSignAreMultipliedWithEachOther) {
  expect_mixed_bytes_right<std::uint8_t, std::int8_t>();
  expect_mixed_bytes_right<std::int8_t, std::uint8_t>();
  Guarded<std::int8_t> B(3, 4);
  EXPECT_THROW(PackedMatrix(B.view(), DType::f32), Error);
}

TEST(PackedMatrix, IsMoved) {
  Guarded<double> A(9, 40), B(40, 30), expected(9, 30), C(9, 30);
  A.fill(RandomData(1));
  B.fill(RandomData(2));
  matmul(A.view(), B.view(), expected.view());
  PackedMatrix first(B.view());
  PackedMatrix second = std::move(first);
  Guarded<float> other(3, 4);
  PackedMatrix third(other.view());
  third = std::move(second);  // of another type
  EXPECT_EQ(third.dtype(), DType::f64);
  matmul(A.view(), third, C.view());
  EXPECT_EQ(difference(C, expected), "");
}

TEST(PackedMatrix, IsReadByManyCallersAtOnce) {
  Guarded<float> A(70, 300), B(300, 130), expected(70, 130);
  A.fill(RandomData(1));
  B.fill(RandomData(2));
  matmul(A.view(), B.view(), expected.view());
  const PackedMatrix packed(B.view());
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&, caller] {
      Guarded<float> C(70, 130);
      for (int call = 0; call < 50; ++call) {
        matmul(A.view(), packed, C.view(), 1, 0, {.threads = 1 + caller % 3});
        wrong += !difference(C, expected).empty();
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(PackedMatrix, IsOnlyMadeOfAMatrixThatCanBePacked) {
  std::vector<double> memory(64);
  const auto refused = [&](DType type, index_t rows, index_t cols, index_t stride,
                           Category category) {
    return refusal([&] { PackedMatrix(ConstMatrix(memory.data(), type, rows, cols, stride)); },
                   category);
  };
  EXPECT_THAT(refused(DType::i32, 3, 4, 4, Category::type),
              AllOf(HasSubstr("PackedMatrix: i32 is not packed"), HasSubstr("the matrix itself")));
  EXPECT_THAT(refused(DType::i64, 3, 4, 4, Category::type),
              AllOf(HasSubstr("i64 is not packed"), HasSubstr("convert B")));
  EXPECT_THAT(refused(DType::f32, -3, 4, 4, Category::shape),
              HasSubstr("PackedMatrix: B has a negative extent"));
  EXPECT_THAT(refused(DType::f32, 3, 4, std::numeric_limits<index_t>::max() / 4, Category::shape),
              HasSubstr("PackedMatrix: B reaches beyond 64-bit"));
  EXPECT_THAT(refused(DType::f32, index_t{1} << 40, index_t{1} << 20, 0, Category::shape),
              HasSubstr("too many elements"));
  EXPECT_THAT(refused(DType::f32, index_t{1} << 23, index_t{1} << 23, 0, Category::resource),
              HasSubstr("no memory"));
  EXPECT_THAT(
      refusal([] { PackedMatrix(ConstMatrix(nullptr, DType::f32, 3, 4, 4)); }, Category::argument),
      AllOf(HasSubstr("PackedMatrix: B of shape (3,4) has no data")));
}

TEST(PackedMatrix, ProductsThatCannotBeAreRefused) {
  std::vector<float> a(40, 1), b(40, 1), c(40, 7);  // (3,5), (5,4), (3,4)
  const PackedMatrix B(matrix(b.data(), 5, 4));
  const auto A = matrix(a.data(), 3, 5);
  const auto C = matrix(c.data(), 3, 4);
  EXPECT_THAT(refusal([&] { matmul(matrix(a.data(), 3, 6), B, C); }, Category::shape),
              HasSubstr("A has 6 columns but B has 5 rows"));
  EXPECT_THAT(refusal([&] { matmul(A, B, matrix(c.data(), 3, 5)); }, Category::shape),
              HasSubstr("expected (3,4), got (3,5)"));
  std::vector<double> wide(40);
  EXPECT_THAT(refusal([&] { matmul(matrix(wide.data(), 3, 5), B, C); }, Category::type),
              HasSubstr("f64 and f32"));
  EXPECT_THAT(refusal([&] { matmul(A, B, matrix(wide.data(), 3, 4)); }, Category::type),
              HasSubstr("no f32 into f64 product"));
  EXPECT_THAT(refusal([&] { matmul(A, B, matrix(a.data() + 14, 3, 4)); }, Category::argument),
              HasSubstr("C overlaps A"));
  EXPECT_THAT(refusal([&] { matmul(A, B, matrix<float>(nullptr, 3, 4)); }, Category::argument),
              HasSubstr("C of shape (3,4) has no data"));
  EXPECT_THAT(refusal([&] { matmul(A, B, matrix(c.data(), 3, 4, 0)); }, Category::shape),
              HasSubstr("overlap each other"));
  EXPECT_THAT(refusal([&] { matmul(A, B, C, 1e39); }, Category::argument), HasSubstr("in f32"));
  EXPECT_THAT(refusal([&] { matmul(A, B, C, 1, 0, {.algorithm = "tiled"}); }, Category::argument),
              AllOf(HasSubstr("tiled does not multiply a packed matrix"),
                    HasSubstr("expected auto or packed")));
  EXPECT_THAT(refusal([&] { matmul(A, B, C, 1, 0, {.algorithm = "tield"}); }, Category::argument),
              HasSubstr("did you mean 'tiled'"));
  EXPECT_THAT(
      refusal([&] { matmul(A, B, C, 1, 0, {.tile = {.bm = 8, .bn = 8}}); }, Category::argument),
      HasSubstr("takes no tile"));
  EXPECT_EQ(c, std::vector<float>(40, 7));
  EXPECT_EQ(matmul(A, B, C, 1, 0, {.algorithm = "packed"}).reason,
            "only packed multiplies a packed matrix");
}

TEST(PackedMatrix, RunRefusesWhatWasNotPlanned) {
  std::vector<float> a(18, 1), b(30, 1), c(12);  // (3,5) or (3,6), (5,4) or (6,4), (3,4)
  const auto A = matrix(a.data(), 3, 5);
  const auto C = matrix(c.data(), 3, 4);
  const PackedMatrix B(matrix(b.data(), 5, 4)), longer(matrix(b.data(), 6, 4));
  const Plan plan = make_plan(make_problem(A, B, C, 1, 0, {Activation::none, Bias::per_row}));
  EXPECT_THAT(refusal([&] { run(plan, matrix(a.data(), 3, 6), B, C, b.data()); }, Category::shape),
              HasSubstr("run: A is not"));
  EXPECT_THAT(refusal([&] { run(plan, A, longer, C, b.data()); }, Category::shape),
              AllOf(HasSubstr("run: B is not"), HasSubstr("expected f32 (5,4), got f32 (6,4)")));
  EXPECT_THAT(refusal([&] { run(plan, A, B, transposed(C), b.data()); }, Category::shape),
              HasSubstr("run: C is not"));
  EXPECT_THAT(refusal([&] { run(plan, A, B, C); }, Category::argument), HasSubstr("has a bias"));
  Plan other = plan;
  other.algorithm = "split_k";
  EXPECT_THAT(refusal([&] { run(other, A, B, C, b.data()); }, Category::argument),
              HasSubstr("split_k does not multiply a packed matrix"));
}

}  // namespace
}  // namespace tessera
