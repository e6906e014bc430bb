// A product of an (n,k) and a (k,n) matrix of which only one triangle of C is computed, read and
// written: for gemmtr (triangle.cpp) and for syrk and herk (syrk.cpp). Every element has the bits
// of a gemm.
#pragma once

#include "blas_product.hpp"

namespace tessera::blas {

/// The triangle of C that is computed: row >= col, or row <= col.
enum class Triangle { lower, upper };

/// The numbers of CBLAS.
constexpr int kUpper = 121, kLower = 122;

/// Squares of C on the diagonal up to this many rows are computed whole, on the stack (16 KiB).
constexpr index_t kWhole = 32;

/// The part of a product from this row and column on. Operands that are not read may have invalid
/// addresses.
template <class T>
Product<T> part(Product<T> p, index_t row, index_t rows, index_t col, index_t cols) {
  p.M = rows, p.N = cols;
  if (p.K > 0 && p.alpha != T{0}) p.A.data += row * p.A.row, p.B.data += col * p.B.col;
  p.C += row * p.ldc + col;
  return p;
}

/// Row-major: the elements (row, col) of a square C that are computed.
template <class T>
void multiply_whole(const Product<T>& p, Triangle triangle) {
  T square[kWhole * kWhole] = {};
  const auto each = [&](const auto& body) {
    for (index_t row = 0; row < p.M; ++row) {
      const index_t begin = triangle == Triangle::lower ? 0 : row,
                    end = triangle == Triangle::lower ? row + 1 : p.N;
      for (index_t col = begin; col < end; ++col)
        body(p.C[row * p.ldc + col], square[row * kWhole + col]);
    }
  };
  if (p.beta != T{0}) each([](const T& of_c, T& own) { own = of_c; });
  Product<T> whole = p;
  whole.C = square, whole.ldc = kWhole;
  multiply(whole);
  each([](T& of_c, const T& own) { of_c = own; });
}

/// Cuts the triangle into a rectangle and two triangles of half the size.
template <class T>
void multiply_triangle(const Product<T>& p, Triangle triangle) {
  if (p.M <= kWhole) return multiply_whole(p, triangle);
  const index_t half = (p.M / 2 + kWhole - 1) / kWhole * kWhole, rest = p.M - half;
  multiply_triangle(part(p, 0, half, 0, half), triangle);
  multiply(triangle == Triangle::lower ? part(p, half, rest, 0, half)
                                       : part(p, 0, half, half, rest));
  multiply_triangle(part(p, half, rest, half, rest), triangle);
}

/// The whole triangle, in the order of summation of the whole product.
template <class T>
void multiply_one_triangle(Product<T> p, Triangle triangle) {
  const bool sums = p.K > 0 && p.alpha != T{0};
  // A part may have another order of summation than the whole, which has one chain.
  if (p.M > kWhole) p.arithmetic = Arithmetic::chain;
  if (p.M > 0 && (sums || p.beta != T{1})) multiply_triangle(p, triangle);
}

/// Its route, as text for reports.
template <class T>
cpu::GemmRoute route_of_triangle(const Product<T>& p) {
  const index_t half = (p.M + 1) / 2;
  cpu::GemmRoute route = route_of(part(p, 0, half, 0, half));
  if (p.M > 0 && p.K > 0 && p.alpha != T{0})
    route = {"triangle", "rectangles beside the diagonal, small squares on it", route.threads};
  return route;
}

}  // namespace tessera::blas
