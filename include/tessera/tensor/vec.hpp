// Vec<T, N>: N elements that move together, lane by lane arithmetic. What a vectorized tensor's
// elements are. Aligned so that it is read and written with the widest access (up to 16 bytes).
#pragma once

#include <type_traits>

#include "tessera/core/dtype.hpp"

namespace tessera {

namespace detail {

/// The alignment: a power of two, at most 16 bytes.
constexpr std::size_t vec_alignment(std::size_t element_bytes, std::size_t lanes) {
  const std::size_t bytes = element_bytes * lanes;
  if ((bytes & (bytes - 1)) != 0) return element_bytes;
  return bytes < 16 ? bytes : 16;
}

}  // namespace detail

template <class T, int N>
struct alignas(detail::vec_alignment(sizeof(T), N)) Vec {
  static_assert(N > 0, "a Vec has at least one lane");
  using element = T;
  static constexpr int lanes = N;

  T lane[N];

  /// Every lane the same.
  static TESSERA_HD constexpr Vec filled(T value) {
    Vec out{};
    for (int i = 0; i < N; ++i) out.lane[i] = value;
    return out;
  }
  TESSERA_HD constexpr T& operator[](index_t i) { return lane[i]; }
  TESSERA_HD constexpr const T& operator[](index_t i) const { return lane[i]; }

  template <class Op>
  static TESSERA_HD constexpr Vec zip(const Vec& a, const Vec& b, Op op) {
    Vec out{};
    TESSERA_UNROLL
    for (int i = 0; i < N; ++i) out.lane[i] = convert<T>(op(a.lane[i], b.lane[i]));
    return out;
  }
  TESSERA_HD friend constexpr Vec operator+(const Vec& a, const Vec& b) {
    return zip(a, b, [](T x, T y) { return x + y; });
  }
  TESSERA_HD friend constexpr Vec operator-(const Vec& a, const Vec& b) {
    return zip(a, b, [](T x, T y) { return x - y; });
  }
  TESSERA_HD friend constexpr Vec operator*(const Vec& a, const Vec& b) {
    return zip(a, b, [](T x, T y) { return x * y; });
  }
  TESSERA_HD friend constexpr Vec operator/(const Vec& a, const Vec& b) {
    return zip(a, b, [](T x, T y) { return x / y; });
  }
  TESSERA_HD friend constexpr Vec operator+(const Vec& a, T b) { return a + filled(b); }
  TESSERA_HD friend constexpr Vec operator-(const Vec& a, T b) { return a - filled(b); }
  TESSERA_HD friend constexpr Vec operator*(const Vec& a, T b) { return a * filled(b); }
  TESSERA_HD friend constexpr Vec operator/(const Vec& a, T b) { return a / filled(b); }
  TESSERA_HD friend constexpr Vec operator+(T a, const Vec& b) { return filled(a) + b; }
  TESSERA_HD friend constexpr Vec operator-(T a, const Vec& b) { return filled(a) - b; }
  TESSERA_HD friend constexpr Vec operator*(T a, const Vec& b) { return filled(a) * b; }
  TESSERA_HD friend constexpr Vec operator/(T a, const Vec& b) { return filled(a) / b; }
  TESSERA_HD constexpr Vec& operator+=(const Vec& b) { return *this = *this + b; }
  TESSERA_HD constexpr Vec& operator-=(const Vec& b) { return *this = *this - b; }
  TESSERA_HD constexpr Vec& operator*=(const Vec& b) { return *this = *this * b; }
  TESSERA_HD constexpr Vec& operator/=(const Vec& b) { return *this = *this / b; }
  TESSERA_HD constexpr Vec operator-() const {
    return zip(*this, *this, [](T x, T) { return -x; });
  }
  TESSERA_HD friend constexpr bool operator==(const Vec& a, const Vec& b) {
    for (int i = 0; i < N; ++i) {
      if (!(a.lane[i] == b.lane[i])) return false;
    }
    return true;
  }
};

template <class T>
struct IsVec : std::false_type {};
template <class T, int N>
struct IsVec<Vec<T, N>> : std::true_type {};

/// acc + a * b in each lane with a single rounding.
template <class T, int N>
TESSERA_CHECKED_SYMBOL TESSERA_HD constexpr Vec<T, N> fma(const Vec<T, N>& a, const Vec<T, N>& b,
                                                          Vec<T, N> acc,
                                                          Here here = Here::current()) {
  TESSERA_UNROLL
  for (int i = 0; i < N; ++i) acc.lane[i] = fma(a.lane[i], b.lane[i], acc.lane[i], here);
  return acc;
}
template <class T, int N>
TESSERA_CHECKED_SYMBOL TESSERA_HD constexpr Vec<T, N> fma(T a, const Vec<T, N>& b,
                                                          const Vec<T, N>& acc,
                                                          Here here = Here::current()) {
  return fma(Vec<T, N>::filled(a), b, acc, here);
}

/// Each lane converted as `convert` does.
template <class To, class From, int N>
TESSERA_HD constexpr Vec<To, N> convert_lanes(const Vec<From, N>& v) {
  Vec<To, N> out{};
  TESSERA_UNROLL
  for (int i = 0; i < N; ++i) out.lane[i] = convert<To>(v.lane[i]);
  return out;
}

/// The sum of the lanes, from the first to the last.
template <class T, int N>
TESSERA_HD constexpr T sum(const Vec<T, N>& v) {
  T total = v.lane[0];
  for (int i = 1; i < N; ++i) total = convert<T>(total + v.lane[i]);
  return total;
}

}  // namespace tessera
