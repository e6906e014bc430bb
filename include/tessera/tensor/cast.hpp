// The same elements seen as another type.
//
//   as_const(t)      read only
//   bitcast<U>(t)    the same bytes as elements U of the same size
//   cast<U>(t)       reads convert to U, writes convert back: t(i, j) is a proxy
#pragma once

#include <bit>

#include "tessera/core/dtype.hpp"
#include "tessera/tensor/tensor.hpp"
#include "tessera/tensor/vec.hpp"

namespace tessera {

/// A view of the same elements that does not write them.
template <class T, Layout L, class E>
TESSERA_HD constexpr auto as_const(const Tensor<T*, L, E>& t) {
  return detail::with_engine(t, static_cast<const T*>(t.data()));
}

namespace detail {

/// How a stored element is converted to type To: by value, or by its bits.
struct ByValue {
  template <class To, class From>
  static TESSERA_HD constexpr To as(From value) {
    return convert<To>(value);
  }
};
struct ByBits {
  template <class To, class From>
  static TESSERA_HD constexpr To as(From value) {
    return std::bit_cast<To>(value);
  }
};

}  // namespace detail

/// An element that is stored as another type: reads and writes convert.
template <class To, class P, class How>
class ConvertingReference {
 public:
  using value_type = To;
  TESSERA_HD constexpr ConvertingReference(const P& data, index_t offset, Here here)
      : data_(data), offset_(offset), here_(here) {}
  constexpr ConvertingReference(const ConvertingReference&) = default;

  TESSERA_HD constexpr operator To() const {
    using From = std::remove_cvref_t<
        typename detail::Referred<decltype(detail::access(data_, offset_, here_))>::type>;
    return How::template as<To>(static_cast<From>(detail::access(data_, offset_, here_)));
  }
  TESSERA_HD constexpr const ConvertingReference& operator=(To value) const {
    using Kept = std::remove_cv_t<
        typename detail::Referred<decltype(detail::access(data_, offset_, here_))>::type>;
    detail::access(data_, offset_, here_) = How::template as<Kept>(value);
    return *this;
  }
  TESSERA_HD constexpr const ConvertingReference& operator=(const ConvertingReference& o) const {
    return *this = static_cast<To>(o);
  }

 private:
  P data_;
  index_t offset_;
  Here here_;
};

/// The engine of cast and bitcast.
template <class To, class P, class How>
class ConvertingPointer {
 public:
  ConvertingPointer() = default;
  TESSERA_HD constexpr explicit ConvertingPointer(P data) : data_(data) {}
  TESSERA_HD constexpr ConvertingReference<To, P, How> operator[](index_t offset) const {
    return {data_, offset, Here{}};
  }
  TESSERA_HD constexpr ConvertingReference<To, P, How> at(index_t offset, Here here) const {
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
  return detail::with_engine(t, ConvertingPointer<U, P, detail::ByValue>(t.data()));
}

/// The bits of each element as a U of the same size.
template <class U, class P, Layout L, class E>
TESSERA_HD constexpr auto bitcast(const Tensor<P, L, E>& t) {
  static_assert(sizeof(U) == sizeof(typename Tensor<P, L, E>::value),
                "bitcast<U>: both element types have the same size; use cast<U> to convert values");
  return detail::with_engine(t, ConvertingPointer<U, P, detail::ByBits>(t.data()));
}

}  // namespace tessera
