// A product of the BLAS functions, and its execution by the packed path, where complex products are
// real ones (cpu/complex_parts.hpp). Knows nothing of letters, leading dimensions or error numbers:
// arguments.hpp translates them.
#pragma once

#include <complex>
#include <type_traits>

#include "base/complex_sums.hpp"
#include "cpu/complex_parts.hpp"
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

/// As the packed path takes it. `parts`: 2 for complex elements.
template <class Gemm, class T>
Gemm gemm_of(const Product<T>& p, index_t parts) {
  Gemm gemm;
  gemm.M = parts * p.M, gemm.N = parts * p.N, gemm.K = p.K;
  gemm.A = reinterpret_cast<decltype(gemm.A)>(p.A.data);
  gemm.B = reinterpret_cast<decltype(gemm.B)>(p.B.data);
  gemm.C = reinterpret_cast<decltype(gemm.C)>(p.C);
  gemm.a_row = p.A.row, gemm.a_col = parts * p.A.col;
  gemm.b_row = parts * p.B.row, gemm.b_col = p.B.col;
  gemm.c_row = p.ldc, gemm.c_col = 1;
  gemm.threads = p.threads;
  return gemm;
}
template <class R>
cpu::Gemm<R> gemm_of(const Product<R>& p) {
  auto gemm = gemm_of<cpu::Gemm<R>>(p, 1);
  gemm.alpha = p.alpha, gemm.beta = p.beta;
  gemm.arithmetic = p.arithmetic;
  return gemm;
}
template <class R>
cpu::ComplexGemm<R> gemm_of(Product<std::complex<R>> p) {
  // A single line has no stride. Doubled, one of any size would overflow.
  if (p.M <= 1) p.A.row = 1, p.ldc = p.N;
  if (p.N <= 1) p.B.col = 1;
  if (p.K <= 1) p.A.col = p.B.row = 1;
  auto gemm = gemm_of<cpu::ComplexGemm<R>>(p, 2);
  gemm.combination = {{p.alpha.real(), p.alpha.imag()},
                      {p.beta.real(), p.beta.imag()},
                      p.A.conjugate,
                      p.B.conjugate};
  if (p.alpha == R{0}) gemm.alpha = 0;
  gemm.beta = gemm.combination.reads_c();
  return gemm;
}

/// Runs it. alpha = 0 and K = 0: A and B are not read, C = beta * C, and beta = 1 touches nothing.
/// beta = 0: C is not read.
template <class T>
void multiply(const Product<T>& p) {
  if (p.M <= 0 || p.N <= 0) return;
  if (p.K <= 0 || p.alpha == T{0}) {
    if (p.beta != T{1}) scale(p);
  } else {
    cpu::gemm(gemm_of(p));
  }
}

/// Its route, as text for reports.
template <class T>
cpu::GemmRoute route_of(const Product<T>& p) {
  return cpu::route_of(gemm_of(p));
}

}  // namespace tessera::blas
