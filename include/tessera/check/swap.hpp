// std::swap and std::exchange of elements in files that are compiled with TESSERA_CHECK=1, where an
// element is no reference but a Recorded: a kernel that says std::swap(s(i, j), s(j, i)) compiles
// unchanged, and each element is read once and written once. Included by check/check.hpp.
#pragma once

#include <utility>

#include "tessera/core/recorder.hpp"

#if TESSERA_CHECK

namespace tessera {

template <class T>
constexpr void swap(Recorded<T>&& a, Recorded<T>&& b) {
  const T old = a.load();
  a.store(b.load());
  b.store(old);
}
template <class T>
constexpr void swap(Recorded<T>&& a, T& b) {
  const T old = a.load();
  a.store(b);
  b = old;
}
template <class T>
constexpr void swap(T& a, Recorded<T>&& b) {
  const T old = b.load();
  b.store(a);
  a = old;
}

}  // namespace tessera

/// A qualified name is looked up here alone.
namespace std {

template <class T>
constexpr void swap(tessera::Recorded<T>&& a, tessera::Recorded<T>&& b) {
  tessera::swap(move(a), move(b));
}
template <class T>
constexpr void swap(tessera::Recorded<T>&& a, T& b) {
  tessera::swap(move(a), b);
}
template <class T>
constexpr void swap(T& a, tessera::Recorded<T>&& b) {
  tessera::swap(a, move(b));
}
template <class T, class U = T>
constexpr T exchange(tessera::Recorded<T>&& element, U&& value) {
  const T old = element.load();
  element.store(static_cast<T>(forward<U>(value)));
  return old;
}

}  // namespace std

#endif
