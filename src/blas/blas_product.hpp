// A product of the BLAS functions, and its execution. Real products go to the packed path directly;
// complex ones become real ones (complex_product.cpp). Knows nothing of letters, leading dimensions
// or error numbers: arguments.hpp translates them.
#pragma once

#include <complex>
#include <type_traits>

#include "base/complex_sums.hpp"
#include "cpu/reported_route.hpp"
#include "tessera/core/config.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/core/team.hpp"

namespace tessera::blas {

/// A factor. Strides in elements; one of them is 1.
template <class T>
struct Factor {
  const T* data;
  index_t row, col;
  bool conjugate;  ///< complex only
};

/// C = alpha * A * B + beta * C. A is (M,K), B is (K,N), C is (M,N) with rows of `ldc` elements.
template <class T>
struct Product {
  index_t M, N, K;
  Factor<T> A, B;
  T* C;
  index_t ldc;
  T alpha, beta;
  int threads;            ///< upper limit; 0: the default
  Arithmetic arithmetic;  ///< of real products
};

/// C = beta * C; C is not read where beta = 0.
template <class T>
void scale(const Product<T>& product);

/// M, N and K are at least 1, alpha is not 0.
template <class R>
void multiply_complex(const Product<std::complex<R>>& product);

template <class R>
cpu::Gemm<R> gemm_of(const Product<R>& p) {
  cpu::Gemm<R> gemm;
  gemm.M = p.M, gemm.N = p.N, gemm.K = p.K;
  gemm.A = p.A.data, gemm.a_row = p.A.row, gemm.a_col = p.A.col;
  gemm.B = p.B.data, gemm.b_row = p.B.row, gemm.b_col = p.B.col;
  gemm.C = p.C, gemm.c_row = p.ldc, gemm.c_col = 1;
  gemm.alpha = p.alpha, gemm.beta = p.beta;
  gemm.threads = p.threads, gemm.arithmetic = p.arithmetic;
  return gemm;
}

/// Runs it. alpha = 0 and K = 0: A and B are not read, C = beta * C, and beta = 1 touches nothing.
/// beta = 0: C is not read.
template <class T>
void multiply(const Product<T>& p) {
  if (p.M <= 0 || p.N <= 0) return;
  if (p.K <= 0 || p.alpha == T{0}) {
    if (p.beta != T{1}) scale(p);
  } else if constexpr (std::is_floating_point_v<T>) {
    cpu::gemm(gemm_of(p));
  } else {
    multiply_complex(p);
  }
}

/// Its route, as text for reports.
template <class T>
cpu::GemmRoute route_of(const Product<T>& p) {
  if constexpr (std::is_floating_point_v<T>) {
    return cpu::route_of(gemm_of(p));
  } else {
    cpu::Gemm<typename T::value_type> parts;  // empty, or nothing to sum: as real products
    parts.M = p.M, parts.N = p.N, parts.K = p.alpha == T{0} ? 0 : p.K;
    if (p.M <= 0 || p.N <= 0 || parts.K <= 0) return cpu::route_of(parts);
    parts.M *= 2, parts.N *= 2;  // as multiply_complex makes it
    parts.a_row = parts.K, parts.b_row = parts.c_row = parts.N, parts.threads = p.threads;
    const int most = useful_threads(p.threads > 0 ? p.threads : default_threads());
    const int threads = cpu::route_of(parts).threads;
    return {"real_parts",
            most == 1      ? "four real sums make a complex element"
            : threads == 1 ? "four real sums make a complex element, soon done by one thread"
                           : "four real sums make a complex element, shared among threads",
            threads};
  }
}

}  // namespace tessera::blas
