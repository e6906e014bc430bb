// Many products of one shape: the axes of Python's arrays that are not multiplied, merged into as
// few loops as possible. Knows addresses and strides, nothing of Python.
#pragma once

#include <utility>
#include <vector>

#include "tessera/matmul/matrix.hpp"

namespace tessera::python {

/// The number of products along an axis, and the steps between them in A, B and C, in elements.
struct BatchAxis {
  index_t count = 1, a = 0, b = 0, c = 0;
};

/// A is (M,K), B is (K,N), C is (M,N): those of the first product. Axes: the outermost first.
struct Products {
  ConstMatrix A, B;
  Matrix C;
  std::vector<BatchAxis> axes;

  index_t count() const;
  /// Merges axes: those of one product vanish; two with steps that continue each other become one;
  /// one that continues the rows of A and C, with the same B, becomes rows (unless `keep_rows`: a
  /// bias for each row, or an order of summation by shape).
  void simplify(bool keep_rows);
  /// Do elements of C share memory with one another, or with A or B? False for a single product,
  /// which make_problem() checks.
  bool may_overlap() const;
};

/// Calls body(A, B, C) with the matrices of each step of all axes but the last `inner`.
template <class Body>
void for_each_product(Products p, std::size_t inner, const Body& body) {
  if (p.axes.size() <= inner) return body(p.A, p.B, p.C);
  const BatchAxis axis = p.axes.front();
  p.axes.erase(p.axes.begin());
  const auto advance = [](auto& m, index_t step) {
    using Byte = std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(m.data)>>,
                                    const char, char>;
    m.data = static_cast<Byte*>(m.data) + step * size_of(m.dtype);
  };
  for (index_t i = 0; i < axis.count; ++i) {
    for_each_product(p, inner, body);
    advance(p.A, axis.a);
    advance(p.B, axis.b);
    advance(p.C, axis.c);
  }
}

}  // namespace tessera::python
