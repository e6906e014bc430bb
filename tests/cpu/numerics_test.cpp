// Difficult numbers: graded, cancelling, subnormal, overflowing, NaN, infinite, signed
// zeros.
#include "cpu/numerics.hpp"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <limits>
#include <vector>

#include "blocking.hpp"
#include "cpu/multiply.hpp"

namespace tessera {
namespace {

using testing::difference;
using testing::Guarded;
using testing::kShapes;
using testing::multiply;
using testing::Operands;
using testing::reference;
using testing::Shape;

template <class T>
using Numerics = testing::NumericsTest<T>;
TYPED_TEST_SUITE(Numerics, testing::RealTypes, testing::TypeNames);

TYPED_TEST(Numerics, GradedRowsAndColumnsKeepTheirAccuracy) {
  using T = TypeParam;
  const int most = sizeof(T) == 4 ? 20 : 100;
  for (const Shape s : kShapes) {
    Operands<T> p(s);
    const auto scale = [&](index_t i) {
      return std::ldexp(T{1}, static_cast<int>(i * 37 % (2 * most + 1)) - most);
    };
    for (index_t k = 0; k < s.K; ++k) {
      for (index_t i = 0; i < s.M; ++i) p.A(i, k) *= scale(i);
      for (index_t j = 0; j < s.N; ++j) p.B(k, j) *= scale(j + 5);
    }
    p.expect_right("graded");
  }
}

TYPED_TEST(Numerics, CancellingSumsStayWithinTheirBound) {
  using T = TypeParam;
  const T large = sizeof(T) == 4 ? T(1e30) : T(1e200);
  for (const Shape s : kShapes) {
    Operands<T> p(s);
    for (index_t i = 0; i < s.M; ++i) {
      for (index_t k = 0; k + 1 < s.K; k += 2) p.A(i, k + 1) = -p.A(i, k);
    }
    for (index_t j = 0; j < s.N; ++j) {
      for (index_t k = 0; k + 1 < s.K; k += 2)
        p.B(k + 1, j) = p.B(k, j) * (1 + p.B(k + 1, j) / 1000);
    }
    p.expect_right("pairs that nearly cancel");
    // 1e30 * 1e-5 - 1e30 * 1e-5 around everything else.
    for (index_t i = 0; i < s.M; ++i) p.A(i, 0) = large, p.A(i, s.K - 1) = -large;
    for (index_t j = 0; j < s.N; ++j) p.B(0, j) = p.B(s.K - 1, j) = T(1e-5);
    p.expect_right("a large term that cancels at the end");
    // beta * C takes alpha * A * B away again.
    Guarded<T> product(s.M, s.N);
    reference<T>({}, p.A.view(), p.B.view(), product.view());
    for (index_t i = 0; i < s.M; ++i) {
      for (index_t j = 0; j < s.N; ++j) p.C0(i, j) = product(i, j);
    }
    const auto v = p.verify({.beta = T{-1}});
    EXPECT_TRUE(v.within_bound && v.same_bits) << v.max_error_ratio;
  }
}

TYPED_TEST(Numerics, ConstantAndAlternatingSumsGrowAsTheyMay) {
  using T = TypeParam;
  Operands<T> p({3, 50, 100'000});
  p.A.fill([](index_t, index_t) { return 0.1; });
  p.B.fill([](index_t, index_t j) { return j % 2 == 0 ? 1.0 : 1.0 / 3; });
  p.expect_right("constant");
  p.A.fill([](index_t, index_t k) { return k % 2 == 0 ? 1.0 / 3 : -1.0 / 3; });
  p.expect_right("alternating");
}

TYPED_TEST(Numerics, SubnormalsAreNotFlushed) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  const auto count_subnormal = [](const Guarded<T>& m) {
    int count = 0;
    for (index_t i = 0; i < m.rows(); ++i) {
      for (index_t j = 0; j < m.cols(); ++j) count += std::fpclassify(m(i, j)) == FP_SUBNORMAL;
    }
    return count;
  };
  for (const Shape s : kShapes) {
    Operands<T> p(s);
    // Subnormal A: results are subnormal, or become normal by adding up.
    for (index_t i = 0; i < s.M; ++i) {
      for (index_t k = 0; k < s.K; ++k) p.A(i, k) *= Limits::min() / 8;
    }
    for (index_t i = 0; i < s.M; ++i) {
      for (index_t j = 0; j < s.N; ++j) p.C0(i, j) *= Limits::min();
    }
    p.expect_right("subnormal A and C");
    p.C = p.C0;
    multiply<T>({}, p.A.view(), p.B.view(), p.C.view());
    EXPECT_GT(count_subnormal(p.C), 0);
    multiply<T>({.alpha = T(-0.7), .beta = T(1.3)}, p.A.view(), p.B.view(), p.C.view());
    EXPECT_GT(count_subnormal(p.C), 0);

    // Normal factors whose products underflow.
    Operands<T> q(s);
    const T root = std::sqrt(Limits::min());
    for (index_t k = 0; k < s.K; ++k) {
      for (index_t i = 0; i < s.M; ++i) q.A(i, k) *= root / 64;
      for (index_t j = 0; j < s.N; ++j) q.B(k, j) *= root / 64;
    }
    q.expect_right("products that underflow");
    multiply<T>({}, q.A.view(), q.B.view(), q.C.view());
    EXPECT_GT(count_subnormal(q.C), 0);
  }
}

TYPED_TEST(Numerics, OverflowAndInfinityComeOutWhereTheyMust) {
  using T = TypeParam;
  for (const Shape s : kShapes) {
    Operands<T> p(s);
    for (index_t k = 0; k < s.K; ++k) p.A(s.M - 1, k) = p.B(k, 0) = std::numeric_limits<T>::max();
    p.expect_reference({.beta = T{1}}, "overflow in the last row");
    EXPECT_EQ(p.C(s.M - 1, 0), this->kInfinity);
    EXPECT_TRUE(std::isfinite(p.C(0, 1)));
  }
}

TYPED_TEST(Numerics, OneNanOrInfinityReachesItsRowAndColumnAndNothingElse) {
  using T = TypeParam;
  for (const Shape s : kShapes) {
    for (const T special : {this->kNan, this->kInfinity, -this->kInfinity}) {
      for (const index_t k : {index_t{0}, s.K / 2, s.K - 1}) {
        Operands<T> p(s);
        p.A(s.M / 2, k) = special;
        p.expect_reference({.beta = T(0.7)}, "in A");
        for (index_t i = 0; i < s.M; ++i) {
          for (index_t j = 0; j < s.N; ++j)
            ASSERT_EQ(std::isfinite(p.C(i, j)), i != s.M / 2) << i << "," << j;
        }
        Operands<T> q(s);
        q.B(k, s.N - 1) = special;
        q.expect_reference({}, "in B");
        for (index_t i = 0; i < s.M; ++i) {
          for (index_t j = 0; j < s.N; ++j) ASSERT_EQ(std::isfinite(q.C(i, j)), j != s.N - 1);
        }
      }
      Operands<T> r(s);
      r.C0(1, 2) = special;
      r.expect_reference({.beta = T{-1}}, "in C");
      for (index_t i = 0; i < s.M; ++i) {
        for (index_t j = 0; j < s.N; ++j) ASSERT_EQ(std::isfinite(r.C(i, j)), i != 1 || j != 2);
      }
    }
  }
}

TYPED_TEST(Numerics, ZeroTimesInfinityIsNan) {
  using T = TypeParam;
  for (const Shape s : kShapes) {
    Operands<T> p(s);
    p.A.fill([](index_t, index_t) { return 0; });
    p.B(s.K / 2, 3) = this->kInfinity;
    p.expect_reference({}, "zeros of A are multiplied too");
    EXPECT_TRUE(std::isnan(p.C(0, 3)) && std::isnan(p.C(s.M - 1, 3)));
    EXPECT_EQ(p.C(0, 2), T{0});
    Operands<T> q(s);
    q.B.fill([](index_t, index_t) { return 0; });
    q.A(1, s.K - 1) = this->kNan;
    q.expect_reference({}, "zeros of B are multiplied too");
    EXPECT_TRUE(std::isnan(q.C(1, 0)) && std::isnan(q.C(1, s.N - 1)));
  }
}

TYPED_TEST(Numerics, SignsOfZerosAreThoseOfTheChain) {
  using T = TypeParam;
  for (const Shape s : kShapes) {
    for (const T alpha : {T{1}, T{-1}}) {
      for (const T beta : {T{0}, T{1}, T{-1}}) {
        for (const double sign : {0.0, -0.0}) {
          Operands<T> p(s);
          p.A.fill([](index_t i, index_t k) { return (i + k) % 2 == 0 ? 0.0 : -0.0; });
          p.C0.fill([&](index_t, index_t) { return sign; });
          p.expect_reference({.alpha = alpha, .beta = beta}, "signed zeros");
          p.expect_reference({.alpha = alpha, .beta = beta, .last = {Activation::relu}},
                             "signed zeros, relu");
        }
      }
    }
  }
}

TYPED_TEST(Numerics, BetaZeroDoesNotReadC) {
  using T = TypeParam;
  for (const Shape s : kShapes) {
    for (const T zero : {T{0}, -T{0}}) {
      for (const T alpha : {T{0}, T{1}, T(0.7)}) {
        Operands<T> p(s);
        p.C0.fill(
            [&](index_t i, index_t j) { return (i + j) % 2 == 0 ? this->kNan : this->kInfinity; });
        p.expect_reference({.alpha = alpha, .beta = zero}, "NaN in C");
        p.expect_reference({.alpha = alpha, .beta = zero, .last = {Activation::silu}},
                           "NaN in C, by the scalar epilogue");
        for (index_t i = 0; i < s.M; ++i) {
          for (index_t j = 0; j < s.N; ++j) ASSERT_TRUE(std::isfinite(p.C(i, j)));
        }
      }
    }
  }
}

TYPED_TEST(Numerics, AlphaZeroAndKZeroReadNeitherANorB) {
  using T = TypeParam;
  for (const Shape s : kShapes) {
    for (const T beta : {T{0}, T{1}, T(0.7)}) {
      Operands<T> p(s);
      p.A.fill([&](index_t, index_t) { return this->kNan; });
      p.expect_reference({.alpha = T{0}, .beta = beta}, "NaN in A");
      const Guarded<T> expected = p.C;
      // Not even where they are.
      const ConstMatrix A(nullptr, dtype_of<T>(), s.M, s.K, s.K),
          B(nullptr, dtype_of<T>(), s.K, s.N, s.N);
      p.C = p.C0;
      multiply<T>({.alpha = T{0}, .beta = beta}, A, B, p.C.view());
      EXPECT_EQ(difference(p.C, expected), "");
      const ConstMatrix no_a(nullptr, dtype_of<T>(), s.M, 0, 0),
          no_b(nullptr, dtype_of<T>(), 0, s.N, s.N);
      p.C = p.C0;
      multiply<T>({.alpha = this->kNan, .beta = beta}, no_a, no_b, p.C.view());
      Guarded<T> of_nothing = p.C0;
      reference<T>({.alpha = this->kNan, .beta = beta}, no_a, no_b, of_nothing.view());
      EXPECT_EQ(difference(p.C, of_nothing), "") << "K = 0";
    }
  }
}

TYPED_TEST(Numerics, NothingIsTouchedWhereCIsEmpty) {
  using T = TypeParam;
  const cpu::Gemm<T> none{.alpha = this->kNan, .beta = this->kNan};
  for (const Shape s : {Shape{0, 5, 3}, {5, 0, 3}, {0, 0, 0}}) {
    const ConstMatrix A(nullptr, dtype_of<T>(), s.M, s.K, s.K),
        B(nullptr, dtype_of<T>(), s.K, s.N, s.N);
    multiply(none, A, B, Matrix(nullptr, dtype_of<T>(), s.M, s.N, s.N));
  }
}

TYPED_TEST(Numerics, NanFactorsMakeEverythingNan) {
  using T = TypeParam;
  for (const Shape s : kShapes) {
    Operands<T> p(s);
    p.expect_reference({.alpha = this->kNan}, "alpha");
    EXPECT_TRUE(std::isnan(p.C(0, 0)) && std::isnan(p.C(s.M - 1, s.N - 1)));
    p.expect_reference({.beta = this->kNan}, "beta");
    EXPECT_TRUE(std::isnan(p.C(0, 0)) && std::isnan(p.C(s.M - 1, s.N - 1)));
    p.expect_reference({.alpha = T{0}, .beta = this->kNan}, "beta, without a product");
    EXPECT_TRUE(std::isnan(p.C(0, 0)) && std::isnan(p.C(s.M - 1, s.N - 1)));
  }
}

TYPED_TEST(Numerics, ActivationsKeepNan) {
  using T = TypeParam;
  for (const Shape s : kShapes) {
    for (const Activation activation : {Activation::relu, Activation::gelu, Activation::silu}) {
      Operands<T> p(s);
      p.A(2, 1) = this->kNan;
      p.expect_reference({.last = {activation}}, "NaN");
      EXPECT_TRUE(std::isnan(p.C(2, 0)) && std::isnan(p.C(2, s.N - 1)));
    }
  }
}

}  // namespace
}  // namespace tessera
