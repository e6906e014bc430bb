// swizzled<S>(t): a tensor over memory in which element x of the layout is at S(x), so that the
// threads of a warp find their elements in different banks of shared memory. Tiles, fragments and
// vectors of it remain correct: the swizzle acts on the offset from the first element of the
// memory.
#pragma once

#include "tessera/layout/swizzle.hpp"
#include "tessera/tensor/distribute.hpp"
#include "tessera/tensor/vectorize.hpp"

namespace tessera {

/// The engine of a swizzled tensor.
template <class P, Swizzle S>
class SwizzledPointer {
 public:
  SwizzledPointer() = default;
  TESSERA_HD constexpr explicit SwizzledPointer(P data, index_t offset = 0)
      : data_(data), offset_(offset) {}
  TESSERA_HD constexpr decltype(auto) operator[](index_t offset) const {
    return data_[S(offset_ + offset)];
  }
  TESSERA_HD constexpr decltype(auto) at(index_t offset, Here here) const {
    return detail::access(data_, S(offset_ + offset), here);
  }
  TESSERA_HD constexpr SwizzledPointer operator+(index_t offset) const {
    return SwizzledPointer(data_, offset_ + offset);
  }
  /// The address of that element.
  TESSERA_HD constexpr auto address(index_t offset) const requires(std::is_pointer_v<P>) {
    return data_ + S(offset_ + offset);
  }

 private:
  P data_{};
  index_t offset_ = 0;
};

namespace detail {
/// The swizzle leaves the low bits of an offset alone.
template <class T, Swizzle S>
inline constexpr index_t kRun<SwizzledPointer<T*, S>> = index_t{1} << S.base;
}  // namespace detail

/// t, whose elements are swizzled in memory. t is the whole of the memory, not a part of it.
template <Swizzle S, class P, Layout L, class E>
TESSERA_HD constexpr auto swizzled(const Tensor<P, L, E>& t) {
  return detail::with_engine(t, SwizzledPointer<P, S>(t.data()));
}

/// distribute<Threads>(swizzled<S>(t), thread).
template <Layout Threads, Swizzle S, class P, Layout L, class E>
TESSERA_HD constexpr auto distribute(const Tensor<P, L, E>& t, index_t thread) {
  return distribute<Threads>(swizzled<S>(t), thread);
}

}  // namespace tessera
