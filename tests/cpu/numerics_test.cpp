// Numbers that trip products up: graded, cancelling, subnormal, overflowing, NaN, infinite, signed
// zeros; and the floating-point environment, which belongs to the caller.
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <limits>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "blocking.hpp"
#include "cpu/multiply.hpp"

namespace tessera {
namespace {

using testing::difference;
using testing::Guarded;
using testing::multiply;
using testing::RandomData;
using testing::reference;
using testing::Shape;

template <class T>
class Numerics : public ::testing::Test {
 public:
  static constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  static constexpr T kInfinity = std::numeric_limits<T>::infinity();
};
TYPED_TEST_SUITE(Numerics, testing::RealTypes, testing::TypeNames);

/// Unpacked, packed, packed in several KC blocks, few rows against a large matrix.
constexpr Shape kShapes[] = {{5, 6, 7}, {33, 50, 70}, {20, 101, 1100}, {7, 2600, 130}};

template <class T>
struct Operands {
  Guarded<T> A, B, C0, C;
  explicit Operands(Shape s) : A(s.M, s.K), B(s.K, s.N), C0(s.M, s.N), C(C0) {
    A.fill(RandomData(1));
    B.fill(RandomData(2));
    C0.fill(RandomData(3));
    C = C0;
  }
  Verification verify(const cpu::Gemm<T>& call) {
    C = C0;
    multiply(call, A.view(), B.view(), C.view());
    const Problem problem = testing::problem_of(call, A.view(), B.view(), C.view());
    return Verifier(problem, A.view(), B.view(), C0.view(), call.bias.values, 1).check(C.view());
  }
  /// Within the bound of every element, and the bits of the chain, for some alpha and beta.
  void expect_right(const char* data) {
    for (const int threads : {1, 2}) {
      for (const auto& call : {cpu::Gemm<T>{}, cpu::Gemm<T>{.alpha = T(-0.7), .beta = T(1.3)}}) {
        auto threaded = call;
        threaded.threads = threads;
        const Verification v = verify(threaded);
        EXPECT_TRUE(v.within_bound) << data << ": error / bound " << v.max_error_ratio << " at ("
                                    << v.row << "," << v.col << ")";
        EXPECT_TRUE(v.same_bits) << data;
      }
    }
  }
  /// The same as the reference, where NaN is NaN.
  void expect_reference(const cpu::Gemm<T>& call, const char* data) {
    Guarded<T> expected = C0;
    C = C0;
    multiply(call, A.view(), B.view(), C.view());
    reference(call, A.view(), B.view(), expected.view());
    EXPECT_EQ(difference(C, expected), "") << data;
  }
};

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

/// What decides how numbers are rounded and flushed, and which exceptions trap; not the sticky
/// flags.
[[maybe_unused]] unsigned long control_word() {
#if defined(__x86_64__)
  return _mm_getcsr() & ~0x3Fu;
#elif defined(__aarch64__)
  unsigned long k_group;
  asm volatile("mrs %0, fpcr" : "=r"(k_group));
  return k_group;
#else
  return static_cast<unsigned long>(std::fegetround());
#endif
}

/// Puts the floating-point environment back at the end of a scope.
struct KeepsEnvironment {
  std::fenv_t saved;
  KeepsEnvironment() { std::fegetenv(&saved); }
  ~KeepsEnvironment() { std::fesetenv(&saved); }
};

TYPED_TEST(Numerics, TheFloatingPointEnvironmentIsTheCallers) {
  using T = TypeParam;
  for (const Shape s : kShapes) {
    Operands<T> p(s);
    for (const int mode : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
      for (const int threads : {1, 2}) {
        p.C = p.C0;
        unsigned long before, after;
        {
          const KeepsEnvironment keeps;
          std::fesetround(mode);
          before = control_word();
          multiply<T>({.alpha = T(0.7), .beta = T(0.7), .threads = threads}, p.A.view(), p.B.view(),
                      p.C.view());
          after = control_word();
        }
        EXPECT_EQ(before, after);
        const Problem problem = testing::problem_of<T>({.alpha = T(0.7), .beta = T(0.7)},
                                                       p.A.view(), p.B.view(), p.C.view());
        const Verification v =
            Verifier(problem, p.A.view(), p.B.view(), p.C0.view(), nullptr, 1).check(p.C.view());
        // Directed roundings err by up to a whole unit where the bound counts a half.
        EXPECT_LE(v.max_error_ratio, 2.01) << "mode " << mode;
      }
    }
    p.expect_right("after other rounding modes");
  }
}

TYPED_TEST(Numerics, AnExactProductRaisesNoException) {
  using T = TypeParam;
  const KeepsEnvironment keeps;
  for (const Shape s : {Shape{1, 1, 1}, Shape{48, 48, 48}, Shape{60, 70, 80}, Shape{129, 201, 333},
                        Shape{3, 2000, 700}, Shape{2000, 1, 700}, Shape{20, 30, 5000}}) {
    Guarded<T> A(s.M, s.K), B(s.K, s.N), C(s.M, s.N);
    A.fill([](index_t i, index_t k) { return static_cast<double>((i + 3 * k) % 7 - 3); });
    B.fill([](index_t k, index_t j) { return static_cast<double>((5 * k + j) % 9 - 4); });
    C.fill([](index_t i, index_t j) { return static_cast<double>(i - j); });
    for (const int threads : {1, 2}) {
      for (const T beta : {T{0}, T{2}}) {
        std::feclearexcept(FE_ALL_EXCEPT);
        multiply<T>({.alpha = T{3}, .beta = beta, .threads = threads}, A.view(), B.view(),
                    C.view());
        const int raised = std::fetestexcept(FE_ALL_EXCEPT);
        EXPECT_EQ(raised, 0) << s.M << "x" << s.N << "x" << s.K << " threads " << threads;
      }
    }
  }
}

/// What fills up vectors and panels must not be multiplied by an infinity: zero times that is
/// invalid.
/// Columns of B whole pages apart are read one half of them behind the other: what is summed from
/// the middle of a chain on may not raise what the chain does not.
TYPED_TEST(Numerics, ColumnsPagesApartRaiseNoOtherExceptions) {
  using T = TypeParam;
  constexpr index_t N = 64, K = 4096;
  constexpr T large = std::numeric_limits<T>::max() * T(0.9);
  const KeepsEnvironment keeps;
  const cpu::Caches before = cpu::assume_caches({48 << 10, 64 << 10, 64 << 10});
  const std::vector<T> a(4 * K, T{1});
  std::vector<T> b(N * K), c(4 * N);
  for (index_t j = 0; j < N; ++j) {
    T* const column = b.data() + j * K;
    column[j] = -large, column[K - 90 + j] = column[K - 91 + j] = large * T(0.6);
  }
  for (index_t M = 1; M <= 4; ++M) {
    cpu::Gemm<T> call{.M = M, .N = N, .K = K, .A = a.data(), .a_row = K, .B = b.data()};
    call.b_row = 1, call.b_col = K, call.C = c.data(), call.c_row = N, call.threads = 1;
    std::feclearexcept(FE_ALL_EXCEPT);
    cpu::gemm(call);
    EXPECT_EQ(std::fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW), 0) << M << " rows";
    for (index_t i = 0; i < M * N; ++i) {
      ASSERT_EQ(c[static_cast<std::size_t>(i)], (-large + large * T(0.6)) + large * T(0.6));
    }
  }
  cpu::assume_caches(before);
}

TYPED_TEST(Numerics, TheExceptionsAreThoseOfTheChain) {
  using T = TypeParam;
  constexpr int seen = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  const KeepsEnvironment keeps;
  std::size_t turn = 0;
  for (const Shape s : {Shape{1, 1, 1},
                        {3, 3, 3},
                        {1, 20, 30},
                        {2, 300, 40},
                        {5, 7, 9},
                        {17, 19, 23},
                        {33, 50, 70},
                        {70, 33, 300},
                        {4, 1030, 60},
                        {60, 1, 90},
                        {200, 2, 50},
                        {13, 333, 400},
                        {100, 100, 700}}) {
    for (const auto a : testing::kOrders<T>) {
      for (const auto b : testing::kOrders<T>) {
        Guarded<T> A(s.M, s.K, a), B(s.K, s.N, b), C(s.M, s.N, testing::kOrders<T>[turn / 3 % 5]);
        const T large = turn % 3 == 0 ? infinity : std::numeric_limits<T>::max() / 2;
        A.fill(testing::RandomData(turn));
        B.fill([](index_t k, index_t j) { return static_cast<double>((3 * k + j) % 5 + 1); });
        if (turn % 2 == 0) A(s.M - 1, s.K / 2) = large;
        else B(s.K / 2, s.N - 1) = large;
        if (turn % 7 == 0) A(0, s.K - 1) = -large;
        cpu::Gemm<T> call{.threads = 1};
        if (turn % 4 == 1) call.alpha = infinity;
        if (turn % 4 == 3) call.alpha = T{-1}, call.beta = turn % 8 == 3 ? T{1} : -infinity;
        C.fill([&](index_t i, index_t j) { return static_cast<double>((i + 2 * j) % 4 + 1); });
        if (turn % 5 == 0) C(s.M / 2, s.N - 1) = infinity;
        Guarded<T> want = C;
        std::feclearexcept(FE_ALL_EXCEPT);
        testing::reference<T>(call, A.view(), B.view(), want.view());
        const int expected = std::fetestexcept(seen);
        std::feclearexcept(FE_ALL_EXCEPT);
        multiply<T>(call, A.view(), B.view(), C.view());
        ASSERT_EQ(std::fetestexcept(seen), expected)
            << s.M << "x" << s.N << "x" << s.K << " turn " << turn;
        ASSERT_EQ(difference(C, want), "");
        ++turn;
      }
    }
  }
}

#if defined(__x86_64__)
TYPED_TEST(Numerics, ACallerThatFlushesSubnormalsKeepsDoingSo) {
  using T = TypeParam;
  Operands<T> p({33, 50, 70});
  for (index_t i = 0; i < 33; ++i) {
    for (index_t k = 0; k < 70; ++k) p.A(i, k) *= std::numeric_limits<T>::min() / 8;
  }
  {
    const KeepsEnvironment keeps;
    const unsigned flushing = _mm_getcsr() | 0x8040;  // FTZ, DAZ
    _mm_setcsr(flushing);
    multiply<T>({.threads = 1}, p.A.view(), p.B.view(), p.C.view());
    EXPECT_EQ(_mm_getcsr() & ~0x3Fu, flushing & ~0x3Fu);
  }
  for (index_t i = 0; i < 33; ++i) {
    for (index_t j = 0; j < 50; ++j) ASSERT_EQ(p.C(i, j), T{0});
  }
  p.expect_right("after a caller that flushed");
}
#endif

}  // namespace
}  // namespace tessera
