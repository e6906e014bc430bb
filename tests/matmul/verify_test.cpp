// The verifier must not be fooled: wrong results of every kind fail, right ones of every kind pass.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/products.hpp"
#include "tessera/matmul/matmul.hpp"

namespace tessera {
namespace {

using testing::Guarded;
using testing::RandomData;

template <class T>
struct Product {
  Guarded<T> A, B, C, C0;
  Problem problem;
  Product(index_t M, index_t N, index_t K, double alpha = 1, double beta = 0)
      : A(M, K), B(K, N), C(M, N), C0(M, N) {
    A.fill(RandomData(1, std::is_integral_v<T>));
    B.fill(RandomData(2, std::is_integral_v<T>));
    C0.fill(RandomData(3, std::is_integral_v<T>));
    C = C0;
    problem = make_problem(A.view(), B.view(), C.view(), alpha, beta);
  }
  Verification check() { return Verifier(problem, A.view(), B.view(), C0.view()).check(C.view()); }
  void reference() { reference_matmul(problem, A.view(), B.view(), C.view()); }
};

template <class T>
void expect_reference_passes() {
  for (const auto& s : testing::nasty_shapes(16)) {
    Product<T> p(s.M, s.N, s.K, 3, -2);
    p.reference();
    const auto result = p.check();
    EXPECT_TRUE(result.within_bound && result.same_bits)
        << s.M << "x" << s.N << "x" << s.K << " ratio " << result.max_error_ratio;
  }
}

TEST(Verify, TheReferencePassesForEveryType) {
  expect_reference_passes<double>();
  expect_reference_passes<float>();
  expect_reference_passes<f16>();
  expect_reference_passes<bf16>();
  expect_reference_passes<std::int32_t>();
}

template <class T>
void expect_bytes_pass() {
  for (const auto& s : testing::nasty_shapes(16)) {
    Guarded<T> A(s.M, s.K), B(s.K, s.N);
    Guarded<std::int32_t> C(s.M, s.N), before(s.M, s.N), expected(s.M, s.N);
    const auto any = [](index_t i, index_t j) {
      return static_cast<double>((i * 91 + j * 57) % 128);
    };
    A.fill(any), B.fill(any);
    C.fill(RandomData(3, true));
    before = expected = C;
    const Plan plan = matmul(A.view(), B.view(), C.view(), 3, -2);
    EXPECT_EQ(plan.algorithm, "packed");
    reference_matmul(plan.problem, A.view(), B.view(), expected.view());
    const Verifier verifier(plan.problem, A.view(), B.view(), before.view());
    EXPECT_TRUE(verifier.check(C.view()).same_bits) << s.M << "x" << s.N << "x" << s.K;
    EXPECT_TRUE(verifier.check(expected.view()).same_bits);
  }
}

TEST(Verify, BytesIntoI32AreExact) {
  expect_bytes_pass<std::int8_t>();
  expect_bytes_pass<std::uint8_t>();
  Guarded<std::int8_t> A(4, 4), B(4, 4), C(4, 4);
  EXPECT_THROW(matmul(A.view(), B.view(), C.view()), Error);
}

TEST(Verify, TypesWithoutAProductAreRefusedByTheReference) {
  Guarded<float> A(3, 4), B(4, 5);
  Guarded<double> C(3, 5);
  const Problem problem = make_problem(A.view(), B.view(), C.view());
  EXPECT_THROW(reference_matmul(problem, A.view(), B.view(), C.view()), Error);
}

TEST(Matmul, GivesAProductInMemoryOfItsOwn) {
  const HostTensor<float> A({{1, 2}, {3, 4}, {5, 6}}), B({{1, 0, 2}, {0, 1, 3}});
  const HostTensor<float> C = matmul(A, B);
  EXPECT_EQ(C.rows(), 3);
  EXPECT_EQ(C.cols(), 3);
  EXPECT_EQ(C(2, 0), 5);
  EXPECT_EQ(C(2, 2), 28);
  const HostTensor<std::int32_t> D =
      matmul(HostTensor<std::int8_t>(4, 5), HostTensor<std::int8_t>(5, 2));
  EXPECT_EQ(D(3, 1), 0);
  const HostTensor<std::uint8_t> bytes({{200, 1}, {0, 255}});
  EXPECT_EQ(matmul(bytes, HostTensor<std::int8_t>({{-3}, {7}}))(0, 0), -593);
  EXPECT_EQ(matmul(HostTensor<double>(0, 3), HostTensor<double>(3, 2)).rows(), 0);
  EXPECT_EQ(matmul(HostTensor<double>(2, 0), HostTensor<double>(0, 2))(1, 1), 0);
  EXPECT_THROW(matmul(A, A), Error);
}

TEST(Verify, OneWrongElementIsFoundAndNamed) {
  Product<float> p(20, 30, 40);
  p.reference();
  const float right = p.C(13, 17);
  for (const float wrong : {right + 1e-3f, -right, 0.0f, std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity()}) {
    p.C(13, 17) = wrong;
    const auto result = p.check();
    EXPECT_FALSE(result.within_bound) << wrong;
    EXPECT_EQ(result.outside, 1);
    EXPECT_EQ(result.row, 13);
    EXPECT_EQ(result.col, 17);
    EXPECT_NEAR(result.expected, right, 1e-4);
  }
}

TEST(Verify, ADroppedLastStepAndALowPrecisionSumAreOutside) {
  Product<float> p(16, 16, 65);
  for (index_t i = 0; i < 16; ++i) {
    for (index_t j = 0; j < 16; ++j) {
      float sum = 0;
      for (index_t k = 0; k < 64; ++k) sum = fma(p.A(i, k), p.B(k, j), sum);
      p.C(i, j) = sum;
    }
  }
  EXPECT_FALSE(p.check().within_bound);
  for (index_t i = 0; i < 16; ++i) {
    for (index_t j = 0; j < 16; ++j) {
      f16 sum(0.0f);
      for (index_t k = 0; k < 65; ++k) sum = f16(fma(p.A(i, k), p.B(k, j), float(sum)));
      p.C(i, j) = sum;
    }
  }
  EXPECT_FALSE(p.check().within_bound);
}

TEST(Verify, AnotherOrderOfSummationIsWithinTheBoundButNotTheSameBits) {
  Product<float> p(32, 32, 200);
  for (index_t i = 0; i < 32; ++i) {
    for (index_t j = 0; j < 32; ++j) {
      float sum = 0;
      for (index_t k = 200; k-- > 0;) sum = fma(p.A(i, k), p.B(k, j), sum);
      p.C(i, j) = sum;
    }
  }
  const auto result = p.check();
  EXPECT_TRUE(result.within_bound);
  EXPECT_FALSE(result.same_bits);
  EXPECT_GT(result.max_error_ratio, 0);
}

TEST(Verify, GradedRowsExposeNormwiseAlgorithms) {
  Product<float> p(8, 8, 32);
  for (index_t i = 0; i < 8; ++i) {
    for (index_t k = 0; k < 32; ++k) p.A(i, k) *= std::ldexp(1.0f, static_cast<int>(i) * 5 - 20);
  }
  p.reference();
  EXPECT_TRUE(p.check().within_bound);
  for (index_t j = 0; j < 8; ++j)
    p.C(0, j) += 1e-7f * p.C(7, j);  // an error that is small beside the largest row
  EXPECT_FALSE(p.check().within_bound);
}

TEST(Verify, NonFiniteInputsMustComeOut) {
  Product<float> p(6, 7, 8);
  p.A(2, 3) = std::numeric_limits<float>::quiet_NaN();
  p.B(4, 5) = -std::numeric_limits<float>::infinity();
  p.reference();
  EXPECT_TRUE(p.check().within_bound);
  p.C(2, 1) = 0;  // a NaN that was lost, by a zero-skip for instance
  EXPECT_FALSE(p.check().within_bound);
}

TEST(Verify, SubnormalAndCancellingDataPass) {
  Product<float> p(9, 9, 9);
  for (index_t k = 0; k < 9; ++k) {
    for (index_t i = 0; i < 9; ++i) p.A(i, k) *= 0x1p-75f, p.B(k, i) *= 0x1p-70f;
  }
  p.reference();
  EXPECT_TRUE(p.check().within_bound);
  Product<double> q(3, 3, 3);
  for (index_t i = 0; i < 3; ++i)
    q.A(i, 0) = 1e20, q.A(i, 1) = 1, q.A(i, 2) = -1e20, q.B(0, i) = q.B(1, i) = q.B(2, i) = 1;
  q.reference();
  EXPECT_TRUE(q.check().within_bound);
}

/// Instructions that multiply pairs of bf16 flush them: that is within the bound, and no more.
TEST(Verify, SubnormalBf16MayBeFlushed) {
  for (const double small : {1e-20, 1e-39}) {
    HostTensor<bf16> A(5, 8), B(8, 7);
    for (index_t i = 0; i < 5; ++i) {
      for (index_t k = 0; k < 8; ++k) A(i, k) = convert<bf16>(k == 3 ? small : 0.25);
    }
    for (index_t k = 0; k < 8; ++k) {
      for (index_t j = 0; j < 7; ++j) B(k, j) = convert<bf16>(k == 3 ? 1e-20 : 0.);
    }
    const ConstMatrix a = matrix(A.data(), 5, 8), b = matrix(B.data(), 8, 7);
    HostTensor<float> C(5, 7);
    const Matrix c = matrix(C.data(), 5, 7);
    const Verifier verifier(make_problem(a, b, c), a, b, c);
    matmul(a, b, c);
    EXPECT_TRUE(verifier.check(c).within_bound) << small;
    for (index_t i = 0; i < 5; ++i) {
      for (index_t j = 0; j < 7; ++j) C(i, j) = 0;
    }
    EXPECT_TRUE(verifier.check(c).within_bound) << small;
    C(2, 3) = 1e-36f;
    EXPECT_FALSE(verifier.check(c).within_bound) << small;
  }
}

TEST(Verify, ExactIntegersInAnyOrderAreTheSameBits) {
  Product<float> p(64, 48, 100);
  p.A.fill([](index_t i, index_t j) { return static_cast<double>((i * 7 + j * 3) % 9) - 4; });
  p.B.fill([](index_t i, index_t j) { return static_cast<double>((i * 5 + j * 11) % 9) - 4; });
  for (const auto& algorithm : algorithms()) {
    matmul(p.A.view(), p.B.view(), p.C.view(), 1, 0, {.algorithm = std::string(algorithm.name)});
    const auto result = p.check();
    EXPECT_TRUE(result.same_bits)
        << algorithm.name;  // tensor_core too: small integers are exact in TF32
    EXPECT_EQ(result.max_error_ratio, 0) << algorithm.name;
  }
}

TEST(Epilogue, BiasAndActivationAreAppliedOnceByEveryKernel) {
  Product<float> p(33, 21, 17, 0.5, 2);
  std::vector<float> per_row(33), per_column(21);
  for (std::size_t i = 0; i < per_row.size(); ++i) per_row[i] = static_cast<float>(i) - 16;
  for (std::size_t i = 0; i < per_column.size(); ++i) per_column[i] = 10 - static_cast<float>(i);
  for (const auto& algorithm : algorithms()) {
    for (const Epilogue& last : {Epilogue{},
                                 {.activation = Activation::relu, .high = 6},
                                 {.activation = Activation::gelu},
                                 {.activation = Activation::silu},
                                 {.low = -1, .high = 0.5}}) {
      for (const Bias bias : {Bias::none, Bias::per_row, Bias::per_column}) {
        const void* vector = bias == Bias::none      ? nullptr
                             : bias == Bias::per_row ? per_row.data()
                                                     : per_column.data();
        p.C = p.C0;
        p.problem.epilogue = last, p.problem.epilogue.bias = bias;
        run(make_plan(p.problem, {.algorithm = std::string(algorithm.name)}), p.A.view(),
            p.B.view(), p.C.view(), vector);
        const Verifier verifier(p.problem, p.A.view(), p.B.view(), p.C0.view(), vector);
        const auto result =
            verifier.check(p.C.view(), algorithm.same_bits ? Arithmetic::chain : Arithmetic::tf32);
        EXPECT_TRUE(result.within_bound)
            << algorithm.name << " " << to_string(p.problem) << " ratio " << result.max_error_ratio;
        if (algorithm.same_bits) {
          EXPECT_TRUE(result.same_bits) << algorithm.name << " " << to_string(p.problem);
        }
      }
    }
  }
}

}  // namespace
}  // namespace tessera
