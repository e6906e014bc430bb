// Arithmetic on the elements of tensors. In place on any view: `t += 2`, `t *= other`,
// `exp_in_place(t)`. As values, where all extents are known when compiled: `a + b`, `2 * a.view()`,
// `exp(a)` give a Storage. One thread does all of it.
//
// Broadcast: the right side is a number, or a tensor whose last modes line up with those of the
// left side (as in NumPy): each has the same extent, or extent 1, or is missing in front. Narrow
// floats compute in f32 and round once. Positions that exist on both sides are computed; the others
// are left alone. The right side may be the left side itself; any other overlap is not supported.
#pragma once

#include <cmath>

#include "tessera/tensor/assemble.hpp"
#include "tessera/tensor/for_each.hpp"
#include "tessera/tensor/refused.hpp"
#include "tessera/tensor/storage.hpp"

namespace tessera {

namespace detail {

/// An element by value, also where the tensor returns a proxy.
template <class T, class... I>
TESSERA_HD constexpr typename T::value value_at(const T& t, I... at) {
  return static_cast<typename T::value>(t(at...));
}

template <AnyTensor A, AnyTensor B>
constexpr bool may_broadcast() {
  if (B::rank > A::rank) return false;
  for (int m = 0; m < B::rank; ++m) {
    const index_t extent = B::pattern.shape.mode(m).product();
    const index_t want = A::pattern.shape.mode(A::rank - B::rank + m).product();
    if (extent != dynamic && want != dynamic && extent != want && extent != 1) return false;
  }
  return true;
}

/// Checks the extents of B against those of A.
template <AnyTensor A, AnyTensor B>
TESSERA_HD constexpr void require_broadcast(const A& a, const B& b) {
  for_each_number<B::rank>([&](auto m) {
    require_extent(b.template extent<m>(), a.template extent<A::rank - B::rank + m>(), m);
  });
}

/// body(coordinates...) with the coordinates in b that belong to the position `at` of a tensor of
/// higher or equal rank.
template <AnyTensor B, class Body, class... I>
TESSERA_HD constexpr auto with_broadcast(const B& b, Body body, I... at) {
  const index_t position[] = {at...};
  constexpr int skip = static_cast<int>(sizeof...(I)) - B::rank;
  return [&]<int... M>(std::integer_sequence<int, M...>) {
    return body((b.template extent<M>() == 1 ? index_t{0} : position[skip + M])...);
  }
  (std::make_integer_sequence<int, B::rank>{});
}
/// The element of b that belongs to a position of a.
template <AnyTensor B, class... I>
TESSERA_HD constexpr typename B::value broadcast_at(const B& b, I... at) {
  return with_broadcast(
      b, [&](auto... own) { return value_at(b, own...); }, at...);
}
template <AnyTensor B, class... I>
TESSERA_HD constexpr bool broadcast_exists(const B& b, I... at) {
  if constexpr (!B::is_clipped) return true;
  else
    return with_broadcast(
        b, [&](auto... own) { return b.contains(own...); }, at...);
}

/// The type in which two elements are combined: narrow floats in f32.
template <class T>
using Wide = std::conditional_t<std::is_class_v<T> && !IsVec<T>::value, float, T>;

template <class A, class B, class Op>
TESSERA_HD constexpr A combined(const A& a, const B& b, Op op) {
  if constexpr (IsVec<A>::value) return op(a, element_from<A>(b));
  else return convert<A>(op(static_cast<Wide<A>>(a), static_cast<Wide<A>>(convert<Wide<A>>(b))));
}

struct Plus {
  template <class T>
  TESSERA_HD constexpr auto operator()(const T& a, const T& b) const {
    return a + b;
  }
};
struct Minus {
  template <class T>
  TESSERA_HD constexpr auto operator()(const T& a, const T& b) const {
    return a - b;
  }
};
struct Times {
  template <class T>
  TESSERA_HD constexpr auto operator()(const T& a, const T& b) const {
    return a * b;
  }
};
struct Over {
  template <class T>
  TESSERA_HD constexpr auto operator()(const T& a, const T& b) const {
    return a / b;
  }
};

template <class X>
concept Scalar = !AnyTensor<X> && !requires {
  X::layout;
}
&&!requires(const X& x) { x.view(); };

/// A tensor itself; for an owner, its view.
template <AnyTensor T>
TESSERA_HD constexpr const T& view_of(const T& t) {
  return t;
}
#if defined(__CUDACC__)
#pragma nv_exec_check_disable  // an owner in host memory is used by host code only
#endif
template <class Owner>
requires(!AnyTensor<Owner>) TESSERA_HD constexpr auto view_of(Owner& owner) { return owner.view(); }

template <class X>
concept HasView = !AnyTensor<X> && requires(X & x) {
  x.view();
};
template <class X>
concept TensorLike = AnyTensor<X> || HasView<X>;

}  // namespace detail

/// t(i, j) = op(t(i, j)) for every element that exists.
template <AnyTensor T, class Op>
TESSERA_HD constexpr void apply(const T& t, Op op) {
  using V = typename T::value;
  for_each_position(t, [&](auto... at) {
    t(at...) =
        detail::element_from<V>(op(static_cast<detail::Wide<V>>(detail::value_at(t, at...))));
  });
}

/// a(i, j) = op(a(i, j), b(i, j)), b a number or a tensor that broadcasts to a.
template <AnyTensor A, class B, class Op>
TESSERA_HD constexpr void combine(const A& a, const B& b, Op op) {
  if constexpr (detail::TensorLike<B>) {
    const auto& right = detail::view_of(b);
    using Right = std::remove_cvref_t<decltype(right)>;
    static_assert(detail::may_broadcast<A, Right>(),
                  "arithmetic on tensors: each mode of the right side, counted from the last, has "
                  "the extent of the left side or extent 1");
    detail::require_broadcast(a, right);
    for_each_position(a, [&](auto... at) {
      if (!detail::broadcast_exists(right, at...)) return;
      a(at...) =
          detail::combined(detail::value_at(a, at...), detail::broadcast_at(right, at...), op);
    });
  } else {
    static_assert(
        !std::is_integral_v<typename A::value> || !std::is_floating_point_v<B>,
        "arithmetic on tensors: a tensor of integers takes whole numbers only; cast<> it");
    for_each_position(
        a, [&](auto... at) { a(at...) = detail::combined(detail::value_at(a, at...), b, op); });
  }
}

template <AnyTensor A, class B>
TESSERA_HD constexpr const A& operator+=(const A& a, const B& b) {
  combine(a, b, detail::Plus{});
  return a;
}
template <AnyTensor A, class B>
TESSERA_HD constexpr const A& operator-=(const A& a, const B& b) {
  combine(a, b, detail::Minus{});
  return a;
}
template <AnyTensor A, class B>
TESSERA_HD constexpr const A& operator*=(const A& a, const B& b) {
  combine(a, b, detail::Times{});
  return a;
}
template <AnyTensor A, class B>
TESSERA_HD constexpr const A& operator/=(const A& a, const B& b) {
  combine(a, b, detail::Over{});
  return a;
}

namespace detail {

template <Layout L>
constexpr Layout compact_like() {
  static_assert(L.shape.is_static(),
                "a new tensor in registers needs extents known when compiled: make a copy_of() "
                "the left side, and use += -= *= /= on its view");
  return {L.shape, row_major_stride(L.shape)};
}

/// A Storage with the elements of t, those past the edge zero.
template <AnyTensor T>
TESSERA_HD constexpr auto stored(const T& t) {
  Storage<typename T::value, compact_like<T::pattern>()> out{};
  const auto view = out.view();
  for_each_position(t, [&](auto... at) { view(at...) = value_at(t, at...); });
  return out;
}

template <class A, class B, class Op>
TESSERA_HD constexpr auto new_combined(const A& a, const B& b, Op op) {
  if constexpr (TensorLike<A>) {
    auto out = stored(view_of(a));
    combine(out.view(), b, op);
    return out;
  } else {
    auto out = stored(view_of(b));
    apply(out.view(),
          [&](const auto& x) { return op(static_cast<std::remove_cvref_t<decltype(x)>>(a), x); });
    return out;
  }
}

template <class A, class B>
concept Combinable = (TensorLike<A> && (TensorLike<B> || std::is_arithmetic_v<B>)) ||
                     (std::is_arithmetic_v<A> && TensorLike<B>);

}  // namespace detail

template <class A, class B>
requires detail::Combinable<const A, const B> TESSERA_HD constexpr auto operator+(const A& a,
                                                                                  const B& b) {
  return detail::new_combined(a, b, detail::Plus{});
}
template <class A, class B>
requires detail::Combinable<const A, const B> TESSERA_HD constexpr auto operator-(const A& a,
                                                                                  const B& b) {
  return detail::new_combined(a, b, detail::Minus{});
}
template <class A, class B>
requires detail::Combinable<const A, const B> TESSERA_HD constexpr auto operator*(const A& a,
                                                                                  const B& b) {
  return detail::new_combined(a, b, detail::Times{});
}
template <class A, class B>
requires detail::Combinable<const A, const B> TESSERA_HD constexpr auto operator/(const A& a,
                                                                                  const B& b) {
  return detail::new_combined(a, b, detail::Over{});
}

namespace detail {
struct Exponential {
  TESSERA_HD float operator()(float x) const { return std::exp(x); }
  TESSERA_HD double operator()(double x) const { return std::exp(x); }
  template <class T, int N>
  TESSERA_HD Vec<T, N> operator()(Vec<T, N> v) const {
    for (int i = 0; i < N; ++i) v[i] = convert<T>(std::exp(static_cast<Wide<T>>(v[i])));
    return v;
  }
};
}  // namespace detail

/// Every element becomes e to its power.
template <AnyTensor T>
TESSERA_HD void exp_in_place(const T& t) {
  apply(t, detail::Exponential{});
}
/// e to the power of each element, as a Storage.
template <class T>
requires detail::TensorLike<const T> TESSERA_HD auto exp(const T& t) {
  auto out = detail::stored(detail::view_of(t));
  exp_in_place(out.view());
  return out;
}

}  // namespace tessera
