// Products inside OpenMP's parallel regions, also nested ones. Compiled with OpenMP where the
// compiler has it.
#include "blas_calls.hpp"

#if defined(_OPENMP)
#include <omp.h>
#endif

namespace tessera::testing {
namespace {

TEST(BlasOpenMp, NestedRegionsMultiplyRightAndEnd) {
#if !defined(_OPENMP)
  GTEST_SKIP()
      << "nested OpenMP is NOT tested: this compiler has no OpenMP library (Debian: libomp-dev)";
#elif defined(__SANITIZE_THREAD__)
  GTEST_SKIP()
      << "nested OpenMP is NOT tested: the thread sanitizer does not know OpenMP's barriers";
#else
  const int n = 120;
  std::mt19937_64 random(1);
  Stored<double> A(n, n, 0), B(n, n, 0), expected(n, n, 0);
  A.fill(random), B.fill(random);
  const Case product{kColumn, kNone, kNone, n, n, n};
  call<double>(Name::cblas, product, 1.0, A, B, 0.0, expected);
  int wrong = 0, done = 0;
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(4) reduction(+ : wrong, done)
  {
#pragma omp parallel num_threads(3) reduction(+ : wrong, done)
    {
      for (int i = 0; i < 10; ++i) {
        Stored<double> C(n, n, 0);
        call<double>(Name::cblas, product, 1.0, A, B, 0.0, C);
        wrong += std::memcmp(C.data(), expected.data(), sizeof(double) * n * n) != 0;
        ++done;
      }
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(done, 4 * 3 * 10);
#endif
}

}  // namespace
}  // namespace tessera::testing
