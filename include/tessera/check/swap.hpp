// std::swap and std::exchange of elements in files that are compiled with TESSERA_CHECK=1, where an
// element is no reference but a Recorded: a kernel that says std::swap(s(i, j), s(j, i)) compiles
// unchanged, and each element is read once and written once. std::memcpy and std::memmove from or
// to a tile or a struct with tiles do not compile: they would copy bytes that nobody records.
// Included by check/check.hpp.
#pragma once

#include <cstring>
#include <type_traits>
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

namespace detail {
/// Where accesses are recorded, tiles and structs of tiles are not trivially copyable.
template <class T>
inline constexpr bool kHasTiles = std::is_class_v<T> && !std::is_trivially_copyable_v<T>;
template <class To, class From>
concept CopiesTiles = kHasTiles<To> || kHasTiles<From>;
template <class To>
constexpr void* refuse_bytes(To* to) {
  static_assert(std::is_void_v<To> && !std::is_void_v<To>,
                "memcpy and memmove copy bytes of a tile that the checker does not see: copy "
                "element by element, or assign the tile, mine = s.a");
  return to;
}
}  // namespace detail

}  // namespace tessera

template <class To, class From>
requires tessera::detail::CopiesTiles<To, From>
constexpr void* memcpy(To* to, const From*, std::size_t) {
  return tessera::detail::refuse_bytes(to);
}
template <class To, class From>
requires tessera::detail::CopiesTiles<To, From>
constexpr void* memmove(To* to, const From*, std::size_t) {
  return tessera::detail::refuse_bytes(to);
}

/// A qualified name is looked up here alone.
namespace std {

template <class To, class From>
requires tessera::detail::CopiesTiles<To, From>
constexpr void* memcpy(To* to, const From*, size_t) { return tessera::detail::refuse_bytes(to); }
template <class To, class From>
requires tessera::detail::CopiesTiles<To, From>
constexpr void* memmove(To* to, const From*, size_t) { return tessera::detail::refuse_bytes(to); }

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
