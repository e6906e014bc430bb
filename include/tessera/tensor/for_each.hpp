// Loops over the positions of a tensor that exist, last mode fastest, and fill(). One thread does
// all of it; versions shared by the threads of a block are in ops/. Loops stay loops: compile time
// does not grow with
// the extents.
#pragma once

#include "tessera/core/dtype.hpp"
#include "tessera/tensor/tensor.hpp"
#include "tessera/tensor/vec.hpp"

namespace tessera {

namespace detail {

/// Register tiles must be unrolled on a GPU, or they land in local memory; everything else stays a
/// loop.
template <class T>
constexpr bool is_unrolled() {
#if TESSERA_GPU_CODE
  return T::pattern.shape.is_static() && T::pattern.size() <= 256;
#else
  return false;
#endif
}

template <int Mode, class T, class Body, class... I>
TESSERA_HD constexpr void for_each_in(const T& t, Body& body, I... outer) {
  if constexpr (Mode == T::rank) body(outer...);
  else if constexpr (is_unrolled<T>()) {
    constexpr index_t end = T::pattern.shape.mode(Mode).product();
    TESSERA_UNROLL
    for (index_t i = 0; i < end; ++i) {
      if (!T::is_clipped || i < t.template valid<Mode>())
        for_each_in<Mode + 1>(t, body, outer..., i);
    }
  } else {
    const index_t end = t.template valid<Mode>();
    for (index_t i = 0; i < end; ++i) for_each_in<Mode + 1>(t, body, outer..., i);
  }
}

/// `value` as an element To: converted, and repeated in each lane of a Vec.
template <class To, class From>
TESSERA_HD constexpr To element_from(const From& value) {
  if constexpr (std::is_same_v<To, From>) return value;
  else if constexpr (IsVec<To>::value) {
    if constexpr (IsVec<From>::value) return convert_lanes<typename To::element>(value);
    else return To::filled(convert<typename To::element>(value));
  } else {
    return convert<To>(value);
  }
}

}  // namespace detail

/// Calls body(i, j, ...) for each position of t that exists, last mode fastest.
template <AnyTensor T, class Body>
TESSERA_HD constexpr void for_each_position(const T& t, Body&& body) {
  detail::for_each_in<0>(t, body);
}

/// Every element of t that exists becomes `value`.
template <AnyTensor T, class Value>
TESSERA_HD constexpr void fill(const T& t, Value value) {
  static_assert(!std::is_const_v<typename T::element>, "fill: the tensor's elements are constant");
  const auto element = detail::element_from<typename T::value>(value);
  for_each_position(t, [&](auto... at) { t(at...) = element; });
}

}  // namespace tessera
