// The arguments of a GEMM in BLAS's form: letters or CBLAS numbers, sizes, leading dimensions.
// Checked in the order of the reference BLAS and with its numbers; then they make a Product.
#pragma once

#include <algorithm>

#include "settings.hpp"

namespace tessera::blas {

/// CBLAS's numbers, and OpenBLAS's for a conjugate that is not transposed; any other is illegal.
/// For real elements the latter is the matrix itself.
enum class Transpose : int { none = 111, plain = 112, conjugate = 113, only_conjugate = 114 };

inline bool is_legal(Transpose t) { return static_cast<unsigned>(t) - 111u < 4u; }
inline bool is_transposed(Transpose t) { return static_cast<unsigned>(t) - 112u < 2u; }
inline bool is_conjugate(Transpose t) { return static_cast<unsigned>(t) - 113u < 2u; }

/// Upper or lower case.
inline Transpose transpose_of(const char* letter) {
  switch (*letter | 0x20) {
    case 'n': return Transpose::none;
    case 't': return Transpose::plain;
    case 'c': return Transpose::conjugate;
    case 'r': return Transpose::only_conjugate;
    default: return Transpose{};
  }
}
inline Transpose transpose_of(int cblas) { return Transpose{cblas}; }

/// The arguments of the Fortran function: op(A) is (m,k), op(B) is (k,n), C is (m,n), stored by
/// columns. A CBLAS call for storage by rows is the same call with A and B, and m and n, exchanged.
struct Arguments {
  Transpose trans_a, trans_b;
  index_t m, n, k, lda, ldb, ldc;

  Arguments exchanged() const { return {trans_b, trans_a, n, m, k, ldb, lda, ldc}; }
};

/// Least leading dimensions.
inline index_t least_lda(const Arguments& a) {
  return std::max<index_t>(1, is_transposed(a.trans_a) ? a.k : a.m);
}
inline index_t least_ldb(const Arguments& a) {
  return std::max<index_t>(1, is_transposed(a.trans_b) ? a.n : a.k);
}
inline index_t least_ldc(const Arguments& a) { return std::max<index_t>(1, a.m); }

/// The number of the first illegal argument of the Fortran function, as the reference BLAS counts
/// them; 0 where all are legal.
inline int first_illegal(const Arguments& a) {
  if (!is_legal(a.trans_a)) return 1;
  if (!is_legal(a.trans_b)) return 2;
  if (a.m < 0) return 3;
  if (a.n < 0) return 4;
  if (a.k < 0) return 5;
  if (a.lda < least_lda(a)) return 8;
  if (a.ldb < least_ldb(a)) return 10;
  if (a.ldc < least_ldc(a)) return 13;
  return 0;
}

inline bool are_legal(const Arguments& a) { return first_illegal(a) == 0; }

template <class T>
Factor<T> factor(const T* data, Transpose trans, index_t ld) {
  // A column-major matrix as the transpose of a row-major one.
  const bool turned = is_transposed(trans);
  return {data, turned ? 1 : ld, turned ? ld : 1, is_conjugate(trans)};
}

/// The product of legal arguments: column-major, so C' = op(B)' op(A)' row-major.
template <class T>
Product<T> product_of(const Arguments& a, T alpha, const T* A, const T* B, T beta, T* C,
                      int threads) {
  return {a.n,
          a.m,
          a.k,
          factor(B, a.trans_b, a.ldb),
          factor(A, a.trans_a, a.lda),
          C,
          a.ldc,
          alpha,
          beta,
          threads,
          arithmetic()};
}

}  // namespace tessera::blas
