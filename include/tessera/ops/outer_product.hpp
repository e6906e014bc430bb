// outer_product_acc(acc, a, b): acc (M,N) += a (M) times b (N), one thread's share of a product for
// one k. Each element of acc is one fused multiply-add, so a loop over k keeps one chain per
// element.
#pragma once

#include "tessera/tensor/arithmetic.hpp"

namespace tessera {

/// acc(i, j) = fma(a(i), b(j), acc(i, j)); the extents agree: (M,N), (M), (N).
template <class Acc, class A, class B>
requires(detail::TensorLike<Acc>&& detail::TensorLike<const A>&& detail::TensorLike<const B>)
    TESSERA_HD constexpr void outer_product_acc(Acc&& acc, const A& a, const B& b,
                                                Here here = Here::current()) {
  const auto& c = detail::view_of(acc);
  const auto& left = detail::view_of(a);
  const auto& right = detail::view_of(b);
  using C = std::remove_cvref_t<decltype(c)>;
  using L = std::remove_cvref_t<decltype(left)>;
  using R = std::remove_cvref_t<decltype(right)>;
  static_assert(C::rank == 2 && L::rank == 1 && R::rank == 1,
                "outer_product_acc: acc is (M,N), a is (M), b is (N)");
  constexpr Layout shape_c = C::pattern, shape_a = L::pattern, shape_b = R::pattern;
  constexpr auto agree = [](index_t x, index_t y) {
    return x == dynamic || y == dynamic || x == y;
  };
  static_assert(agree(shape_c.shape.mode(0).product(), shape_a.shape.product()) &&
                    agree(shape_c.shape.mode(1).product(), shape_b.shape.product()),
                "outer_product_acc: acc is (M,N), a is (M), b is (N), with the same M and N");
  using Sum = typename C::value;
  for_each_position(c, [&](auto i, auto j) {
    c(i, j, here) = fma(detail::value_at(left, i, here), detail::value_at(right, j, here),
                        static_cast<Sum>(c(i, j, here)), here);
  });
}

}  // namespace tessera
