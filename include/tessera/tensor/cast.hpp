// The same elements seen as another type.
//
//   as_const(t)      read only
//   bitcast<U>(t)    the same bytes as elements U of the same size
//   cast<U>(t)       reads convert to U, writes convert back: t(i, j) is a proxy
#pragma once

#include "tessera/core/dtype.hpp"
#include "tessera/tensor/tensor.hpp"
#include "tessera/tensor/vec.hpp"

namespace tessera {

/// A view of the same elements that does not write them.
template <class T, Layout L, class E>
TESSERA_HD constexpr auto as_const(const Tensor<T*, L, E>& t) {
  return detail::with_engine(t, static_cast<const T*>(t.data()));
}

/// The bytes of t as elements U. The sizes must agree.
template <class U, class T, Layout L, class E>
TESSERA_HD auto bitcast(const Tensor<T*, L, E>& t) {
  static_assert(sizeof(U) == sizeof(T),
                "bitcast<U>: both element types have the same size; use cast<U> to convert values");
  using To = std::conditional_t<std::is_const_v<T>, const U, U>;
  return detail::with_engine(t, reinterpret_cast<To*>(t.data()));
}

/// An element that is kept as another type: reads and writes convert.
template <class To, class P>
class ConvertingReference {
 public:
  using value_type = To;
  TESSERA_HD constexpr ConvertingReference(const P& data, index_t offset, Here here)
      : data_(data), offset_(offset), here_(here) {}
  constexpr ConvertingReference(const ConvertingReference&) = default;

  TESSERA_HD constexpr operator To() const {
    using From = std::remove_cvref_t<
        typename detail::Referred<decltype(detail::access(data_, offset_, here_))>::type>;
    return convert<To>(static_cast<From>(detail::access(data_, offset_, here_)));
  }
  TESSERA_HD constexpr const ConvertingReference& operator=(To value) const {
    auto&& target = detail::access(data_, offset_, here_);
    using Kept = std::remove_cv_t<
        typename detail::Referred<decltype(detail::access(data_, offset_, here_))>::type>;
    target = convert<Kept>(value);
    return *this;
  }
  TESSERA_HD constexpr const ConvertingReference& operator=(const ConvertingReference& o) const {
    return *this = static_cast<To>(o);
  }

 private:
  P data_;
  index_t offset_;
  [[no_unique_address]] Here here_;
};

template <class To, class P>
class ConvertingPointer {
 public:
  ConvertingPointer() = default;
  TESSERA_HD constexpr explicit ConvertingPointer(P data) : data_(data) {}
  TESSERA_HD constexpr ConvertingReference<To, P> operator[](index_t offset) const {
    return {data_, offset, Here{}};
  }
  TESSERA_HD constexpr ConvertingReference<To, P> at(index_t offset, Here here) const {
    return {data_, offset, here};
  }
  TESSERA_HD constexpr ConvertingPointer operator+(index_t offset) const {
    return ConvertingPointer(data_ + offset);
  }

 private:
  P data_{};
};

/// t with elements of type U: a read converts as `convert` does, a write converts back.
template <class U, class P, Layout L, class E>
TESSERA_HD constexpr auto cast(const Tensor<P, L, E>& t) {
  static_assert(!IsVec<typename Tensor<P, L, E>::value>::value,
                "cast<U>: cast the tensor first, then vectorize it");
  return detail::with_engine(t, ConvertingPointer<U, P>(t.data()));
}

}  // namespace tessera
