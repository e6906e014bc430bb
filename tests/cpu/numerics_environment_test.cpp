// The floating-point environment: rounding, flushing and exceptions are the caller's.
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
#include "cpu/numerics.hpp"

namespace tessera {
namespace {

using testing::difference;
using testing::Guarded;
using testing::kShapes;
using testing::multiply;
using testing::Operands;
using testing::RandomData;
using testing::reference;
using testing::Shape;

template <class T>
using NumericsEnvironment = testing::NumericsTest<T>;
TYPED_TEST_SUITE(NumericsEnvironment, testing::RealTypes, testing::TypeNames);

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

TYPED_TEST(NumericsEnvironment, TheFloatingPointEnvironmentIsTheCallers) {
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

TYPED_TEST(NumericsEnvironment, AnExactProductRaisesNoException) {
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
TYPED_TEST(NumericsEnvironment, ColumnsPagesApartRaiseNoOtherExceptions) {
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

TYPED_TEST(NumericsEnvironment, TheExceptionsAreThoseOfTheChain) {
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
TYPED_TEST(NumericsEnvironment, ACallerThatFlushesSubnormalsKeepsDoingSo) {
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
