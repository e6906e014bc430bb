// Products with a triangular matrix and systems of equations with one, on top of the products:
// what trmm and trsm compute (trsm.cpp).
#pragma once

#include "blas_product.hpp"

namespace tessera::blas {

/// X = alpha T^-1 X, or X = alpha T X. T is triangular, (n,n), its other triangle is not read; X is
/// (n,columns). Strides in elements; of each matrix one is 1.
template <class T>
struct Triangular {
  index_t n, columns;
  const T* t;
  index_t t_row, t_col;
  bool conjugate, lower, unit;  ///< unit: the diagonal is not read, it is all ones
  T* x;
  index_t x_row, x_col;
  T alpha;
  int threads;  ///< upper limit; 0: the default
};

/// alpha = 0: T and X are not read, X becomes 0. By blocks of 32 rows (complex: 16): substitution
/// inside a block, a product with what is beside it. Each element is one chain of fused
/// multiply-adds in a fixed order, whatever the threads and the instruction set. A diagonal element
/// divides by its reciprocal where that is a normal number, else by itself.
template <class T>
void solve_triangular(const Triangular<T>& call);
template <class T>
void multiply_triangular(const Triangular<T>& call);

}  // namespace tessera::blas
