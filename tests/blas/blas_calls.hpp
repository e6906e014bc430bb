// Shared by the tests of the BLAS: its functions by element type, the product by its definition,
// and matrices with guard elements around them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "tessera/blas.h"
#include "tessera/core/config.hpp"
#include "tessera/cpu/lanes.hpp"

namespace tessera::testing {

using c32 = std::complex<float>;
using c64 = std::complex<double>;
template <class T>
constexpr bool is_complex = !std::is_floating_point_v<T>;
template <class T>
struct RealOf {
  using type = T;
};
template <class R>
struct RealOf<std::complex<R>> {
  using type = R;
};
template <class T>
using Real = typename RealOf<T>::type;

constexpr int kUpper = 121, kLower = 122;
constexpr int kRow = 101, kColumn = 102, kNone = 111, kTrans = 112, kConj = 113, kOnlyConj = 114;
constexpr int kEveryTrans[] = {kNone, kTrans, kConj, kOnlyConj};
inline char letter(int trans) { return "NTCR"[trans - kNone]; }
inline bool transposes(int trans) { return trans == kTrans || trans == kConj; }
inline bool conjugates(int trans) { return trans == kConj || trans == kOnlyConj; }

}  // namespace tessera::testing

#define TESSERA_TEST_FORTRAN(name, T, Int)                                                    \
  void name(const char*, const char*, const Int*, const Int*, const Int*, const T*, const T*, \
            const Int*, const T*, const Int*, const T*, T*, const Int*, std::size_t, std::size_t)
#define TESSERA_TEST_CBLAS(name, T, S, Int) \
  void name(int, int, int, Int, Int, Int, S, const T*, Int, const T*, Int, S, T*, Int)
#define TESSERA_TEST_TYPE(x, T, S)                                              \
  TESSERA_TEST_FORTRAN(x##gemm_, tessera::testing::T, int);                     \
  TESSERA_TEST_FORTRAN(x##gemm_64_, tessera::testing::T, std::int64_t);         \
  TESSERA_TEST_CBLAS(cblas_##x##gemm, tessera::testing::T, S, int);             \
  TESSERA_TEST_CBLAS(cblas_##x##gemm_64, tessera::testing::T, S, std::int64_t); \
  TESSERA_TEST_CBLAS(cblas_##x##gemm64_, tessera::testing::T, S, std::int64_t);

namespace tessera::testing {
using f32 = float;
using f64 = double;
}  // namespace tessera::testing

extern "C" {
TESSERA_TEST_TYPE(s, f32, float)
TESSERA_TEST_TYPE(d, f64, double)
TESSERA_TEST_TYPE(c, c32, const tessera::testing::c32*)
TESSERA_TEST_TYPE(z, c64, const tessera::testing::c64*)
}

namespace tessera::testing {

/// The exported functions for elements of type T.
template <class T>
struct Blas;
#define TESSERA_TEST_FUNCTIONS(x, T)                               \
  template <>                                                      \
  struct Blas<T> {                                                 \
    static constexpr auto fortran = x##gemm_;                      \
    static constexpr auto fortran_64 = x##gemm_64_;                \
    static constexpr auto cblas = cblas_##x##gemm;                 \
    static constexpr auto cblas_64 = cblas_##x##gemm_64;           \
    static constexpr auto cblas64_ = cblas_##x##gemm64_;           \
    static constexpr auto batch = cblas_##x##gemm_batch;           \
    static constexpr auto strided = cblas_##x##gemm_batch_strided; \
    static constexpr const char* letter = #x;                      \
  };
TESSERA_TEST_FUNCTIONS(s, f32)
TESSERA_TEST_FUNCTIONS(d, f64)
TESSERA_TEST_FUNCTIONS(c, c32)
TESSERA_TEST_FUNCTIONS(z, c64)

/// alpha and beta as CBLAS takes them: real ones by value.
template <class T>
decltype(auto) scalar(const T& x) {
  if constexpr (is_complex<T>) return &x;
  else return T{x};
}

/// A stored matrix: `outer` lines of `inner` elements, `ld` apart, with guard elements between and
/// around them.
template <class T>
class Stored {
 public:
  Stored(index_t inner, index_t outer, index_t padding)
      : inner_(inner), outer_(outer), ld_(std::max<index_t>(1, inner + padding)) {
    elements_.assign(static_cast<std::size_t>(2 * kGuard + ld_ * outer), guard());
  }
  static T guard() { return T(Real<T>(-7.25e6)); }
  T* data() { return elements_.data() + kGuard; }
  const T* data() const { return elements_.data() + kGuard; }
  int ld() const { return static_cast<int>(ld_); }
  T& at(index_t inner, index_t outer) { return data()[inner + outer * ld_]; }
  const T& at(index_t inner, index_t outer) const { return data()[inner + outer * ld_]; }

  void fill(std::mt19937_64& random) {
    for (index_t o = 0; o < outer_; ++o)
      for (index_t i = 0; i < inner_; ++i) at(i, o) = number(random);
  }
  void fill(T value) {
    for (index_t o = 0; o < outer_; ++o)
      for (index_t i = 0; i < inner_; ++i) at(i, o) = value;
  }
  static T number(std::mt19937_64& random) {
    std::uniform_real_distribution<Real<T>> any(-1, 1);
    if constexpr (is_complex<T>) {
      const Real<T> re = any(random);
      return {re, any(random)};
    } else {
      return any(random);
    }
  }
  /// Are all guard elements as they were?
  bool guards_hold() const {
    for (std::size_t at = 0; at < elements_.size(); ++at) {
      const index_t in = static_cast<index_t>(at) - kGuard;
      const bool inside = in >= 0 && in < ld_ * outer_ && in % ld_ < inner_;
      if (!inside && elements_[at] != guard()) return false;
    }
    return true;
  }

 private:
  static constexpr index_t kGuard = 40;
  index_t inner_, outer_, ld_;
  std::vector<T> elements_;
};

/// op(X)(row, col) of a matrix stored in this order.
template <class T>
T element(const Stored<T>& x, int order, int trans, index_t row, index_t col) {
  if (transposes(trans)) std::swap(row, col);
  const T value = order == kRow ? x.at(col, row) : x.at(row, col);
  if constexpr (is_complex<T>) return conjugates(trans) ? std::conj(value) : value;
  else return value;
}

/// One element by the definition that docs/blas.md promises, to the last bit. a(k) and b(k) give
/// the factors; `old` is read only where beta is not 0. lanes: is it a product in dot form?
template <class T, class A, class B>
T defined(index_t K, T alpha, const A& a, const B& b, T beta, const T& old, bool lanes = false) {
  using R = Real<T>;
  if constexpr (!is_complex<T>) {
    T sum = 0;
    if (lanes) {
      std::vector<T> x, y;
      for (index_t k = 0; k < K; ++k) x.push_back(a(k)), y.push_back(b(k));
      sum = cpu::sum_by_lanes(K, x.data(), y.data());
    } else {
      for (index_t k = 0; k < K; ++k) sum = std::fma(a(k), b(k), sum);
    }
    T value = alpha == T{1} ? sum : alpha * sum;
    if (beta != T{0}) value = std::fma(beta, old, value);
    return value;
  } else {
    R rr = 0, ii = 0, ri = 0, ir = 0;
    for (index_t k = 0; k < K; ++k) {
      const T x = a(k), y = b(k);
      rr = std::fma(x.real(), y.real(), rr);
      ii = std::fma(x.imag(), y.imag(), ii);
      ri = std::fma(x.real(), y.imag(), ri);
      ir = std::fma(x.imag(), y.real(), ir);
    }
    const auto times = [](T factor, T x) -> T {
      if (factor.imag() == R{0}) return {factor.real() * x.real(), factor.real() * x.imag()};
      return {factor.real() * x.real() - factor.imag() * x.imag(),
              factor.real() * x.imag() + factor.imag() * x.real()};
    };
    T value{rr - ii, ri + ir};
    if (alpha != T{1}) value = times(alpha, value);
    if (beta != T{0}) value = value + times(beta, old);
    return value;
  }
}

/// Equal, where NaN equals NaN and 0 equals -0.
template <class T>
bool same(T x, T y) {
  if constexpr (is_complex<T>) return same(x.real(), y.real()) && same(x.imag(), y.imag());
  else return x == y || (std::isnan(x) && std::isnan(y));
}

/// What a call is; the matrices follow from it.
struct Case {
  int order, trans_a, trans_b;
  index_t M, N, K;
};
inline std::string text(const Case& c) {
  return std::string(c.order == kRow ? "row " : "column ") + letter(c.trans_a) + letter(c.trans_b) +
         " M=" + std::to_string(c.M) + " N=" + std::to_string(c.N) + " K=" + std::to_string(c.K);
}

/// The matrix X that op() makes (rows, cols).
template <class T>
Stored<T> stored(int order, int trans, index_t rows, index_t cols, index_t padding = 2) {
  const bool as_is = (order == kRow) != transposes(trans);
  return {as_is ? cols : rows, as_is ? rows : cols, padding};
}

/// Is this a product in dot form, which has the order of summation `lanes`?
template <class T>
bool in_lanes(const Case& c, const Stored<T>& A, const Stored<T>& B) {
  if constexpr (is_complex<T>) return false;
  else
    return cpu::takes_lanes<T>(c.M, c.N, c.K,
                               (c.order == kRow) != transposes(c.trans_a) ? 1 : A.ld(),
                               (c.order == kRow) != transposes(c.trans_b) ? B.ld() : 1);
}

/// Which of the names is called.
enum class Name { fortran, cblas, fortran_64, cblas_64, cblas64_ };

/// Calls it. The Fortran names know storage by columns only: by rows, C' = B' A'.
template <class T>
void call(Name name, const Case& c, T alpha, const Stored<T>& A, const Stored<T>& B, T beta,
          Stored<T>& C) {
  using F = Blas<T>;
  const auto fortran = [&](auto function, auto zero) {
    using Int = decltype(zero);
    const bool rows = c.order == kRow;
    const Int m = static_cast<Int>(rows ? c.N : c.M), n = static_cast<Int>(rows ? c.M : c.N),
              k = static_cast<Int>(c.K);
    const Int lda = rows ? B.ld() : A.ld(), ldb = rows ? A.ld() : B.ld(), ldc = C.ld();
    const char ta = letter(rows ? c.trans_b : c.trans_a), tb = letter(rows ? c.trans_a : c.trans_b);
    function(&ta, &tb, &m, &n, &k, &alpha, rows ? B.data() : A.data(), &lda,
             rows ? A.data() : B.data(), &ldb, &beta, C.data(), &ldc, 1, 1);
  };
  const auto cblas = [&](auto function, auto zero) {
    using Int = decltype(zero);
    function(c.order, c.trans_a, c.trans_b, static_cast<Int>(c.M), static_cast<Int>(c.N),
             static_cast<Int>(c.K), scalar(alpha), A.data(), A.ld(), B.data(), B.ld(), scalar(beta),
             C.data(), C.ld());
  };
  switch (name) {
    case Name::fortran: return fortran(F::fortran, 0);
    case Name::cblas: return cblas(F::cblas, 0);
    case Name::fortran_64: return fortran(F::fortran_64, std::int64_t{0});
    case Name::cblas_64: return cblas(F::cblas_64, std::int64_t{0});
    case Name::cblas64_: return cblas(F::cblas64_, std::int64_t{0});
  }
}

/// Runs one case on random data and compares elements to the last bit, all of them or a spread of
/// some thousand, and all guards.
template <class T>
void check(Name name, const Case& c, T alpha, T beta, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  Stored<T> A = stored<T>(c.order, c.trans_a, c.M, c.K),
            B = stored<T>(c.order, c.trans_b, c.K, c.N), C = stored<T>(c.order, kNone, c.M, c.N);
  A.fill(random), B.fill(random);
  if (beta == T{0}) C.fill(T(std::numeric_limits<Real<T>>::quiet_NaN()));
  else C.fill(random);
  const Stored<T> before_a = A, before_b = B, before_c = C;
  call(name, c, alpha, A, B, beta, C);
  const bool unread = alpha == T{0} || c.K == 0;
  int wrong = 0;
  const index_t step = c.M * c.N * c.K > 1'000'000 ? 13 : 1;
  for (index_t i = 0; i < c.M; ++i) {
    for (index_t j = i % step; j < c.N; j += step) {
      const T old = element(before_c, c.order, kNone, i, j);
      const T expected = defined<T>(
          unread ? 0 : c.K, unread ? T{1} : alpha,
          [&](index_t k) { return element(before_a, c.order, c.trans_a, i, k); },
          [&](index_t k) { return element(before_b, c.order, c.trans_b, k, j); }, beta, old,
          !unread && in_lanes(c, A, B));
      const T got = element(C, c.order, kNone, i, j);
      if (!same(got, expected) && ++wrong < 4) {
        ADD_FAILURE() << Blas<T>::letter << "gemm " << text(c) << " alpha=" << alpha
                      << " beta=" << beta << ": C(" << i << "," << j << ") is " << got
                      << ", expected " << expected;
      }
    }
  }
  EXPECT_EQ(wrong, 0) << text(c);
  EXPECT_TRUE(A.guards_hold() && B.guards_hold() && C.guards_hold()) << text(c);
}

}  // namespace tessera::testing
