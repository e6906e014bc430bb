// IntTuple: a nested tuple of integers as a value, `tuple(2, tuple(3, 4))` is (2,(3,4)). Shapes,
// strides and coordinates are IntTuples. It is a structural type without an array member, so that
// it can be a template argument for every compiler (nvcc's host stubs do not compile with arrays).
//
// At most 16 numbers. Brackets around a single number vanish: (4) is 4; ((2,3)) keeps its rank 1.
// The invariant: leaves beyond `count` are zero, the brackets balance, and more than one leaf means
// one outer pair.
#pragma once

#include <concepts>
#include <limits>

#include "tessera/core/config.hpp"
#include "tessera/layout/refused.hpp"

#if defined(__CUDACC__)
// Errors are host functions; in device code the call is left out and the value stays unspecified.
#pragma nv_diagnostic push
#pragma nv_diag_suppress 20011, 20014
#endif

namespace tessera {

/// An extent or stride that is only known at run time, written in a template argument. (Not the
/// smallest int64: nvcc prints template arguments as literals, and that value has none.)
inline constexpr index_t dynamic = -std::numeric_limits<index_t>::max();

inline constexpr int kMaxLeaves = 16;

/// a * b, refused when it overflows; dynamic when either is (0 times dynamic too).
TESSERA_HD constexpr index_t checked_mul(index_t a, index_t b) {
  if (a == dynamic || b == dynamic) return dynamic;
  if (a == 0 || b == 0) return 0;
  constexpr index_t kMax = std::numeric_limits<index_t>::max();
  // The result must be in (dynamic, kMax].
  if (a < -kMax || b < -kMax || (a < 0 ? -a : a) > (kMax - 1) / (b < 0 ? -b : b))
    refused::the_product_does_not_fit_in_64_bits(a, b);
  return a * b;
}

/// a + b, refused when it overflows; dynamic when either is.
TESSERA_HD constexpr index_t checked_add(index_t a, index_t b) {
  if (a == dynamic || b == dynamic) return dynamic;
  constexpr index_t kMax = std::numeric_limits<index_t>::max();
  if ((b > 0 && a > kMax - b) || (b < 0 && a <= -kMax - b))
    refused::the_sum_does_not_fit_in_64_bits(a, b);
  return a + b;
}

/// a / b rounded up, for a >= 0 and b > 0; dynamic when either is.
TESSERA_HD constexpr index_t ceil_div(index_t a, index_t b) {
  if (a == dynamic || b == dynamic) return dynamic;
  return a / b + (a % b != 0 ? 1 : 0);
}

/// Sixteen integers as members, in place of an array.
struct Leaves {
  index_t v0 = 0, v1 = 0, v2 = 0, v3 = 0, v4 = 0, v5 = 0, v6 = 0, v7 = 0;
  index_t v8 = 0, v9 = 0, v10 = 0, v11 = 0, v12 = 0, v13 = 0, v14 = 0, v15 = 0;

  [[gnu::always_inline]] TESSERA_HD constexpr index_t operator[](int i) const {
    switch (i) {
      case 0: return v0;
      case 1: return v1;
      case 2: return v2;
      case 3: return v3;
      case 4: return v4;
      case 5: return v5;
      case 6: return v6;
      case 7: return v7;
      case 8: return v8;
      case 9: return v9;
      case 10: return v10;
      case 11: return v11;
      case 12: return v12;
      case 13: return v13;
      case 14: return v14;
      default: return v15;
    }
  }

  TESSERA_HD constexpr void set(int i, index_t value) {
    switch (i) {
      case 0: v0 = value; return;
      case 1: v1 = value; return;
      case 2: v2 = value; return;
      case 3: v3 = value; return;
      case 4: v4 = value; return;
      case 5: v5 = value; return;
      case 6: v6 = value; return;
      case 7: v7 = value; return;
      case 8: v8 = value; return;
      case 9: v9 = value; return;
      case 10: v10 = value; return;
      case 11: v11 = value; return;
      case 12: v12 = value; return;
      case 13: v13 = value; return;
      case 14: v14 = value; return;
      default: v15 = value; return;
    }
  }

  friend constexpr bool operator==(const Leaves&, const Leaves&) = default;
};

struct IntTuple {
  Leaves numbers;
  int count = 1;
  /// Four bits per leaf: how many brackets open before it, and close after it.
  std::uint64_t opens = 0, closes = 0;

  /// The number 0.
  constexpr IntTuple() = default;
  /// Member by member, as nvcc prints template arguments; use `tuple(...)`.
  TESSERA_HD constexpr IntTuple(const Leaves& numbers_, int count_, std::uint64_t opens_,
                                std::uint64_t closes_)
      : numbers(numbers_), count(count_), opens(opens_), closes(closes_) {}
  /// A number is also a tuple.
  template <std::integral I>
  TESSERA_HD constexpr IntTuple(I number) {
    numbers.v0 = static_cast<index_t>(number);
  }

  TESSERA_HD constexpr bool is_leaf() const { return opens == 0; }
  /// How many numbers, over all levels.
  TESSERA_HD constexpr int leaves() const { return count; }
  TESSERA_HD constexpr index_t leaf(int i) const { return numbers[i]; }
  /// The value of a single number.
  TESSERA_HD constexpr index_t value() const {
    if (!is_leaf()) refused::a_tuple_of_several_numbers_has_no_single_value(*this);
    return numbers.v0;
  }

  TESSERA_HD constexpr int opens_at(int leaf) const {
    return static_cast<int>(opens >> (4 * leaf) & 15u);
  }
  TESSERA_HD constexpr int closes_at(int leaf) const {
    return static_cast<int>(closes >> (4 * leaf) & 15u);
  }
  /// Whether every mode is a number: (2,3) and 4, not (2,(3,4)).
  [[gnu::always_inline]] TESSERA_HD constexpr bool is_flat() const {
    return is_leaf() || (opens == 1 && closes == std::uint64_t{1} << (4 * (count - 1)));
  }

  /// The number of modes; a number has one.
  TESSERA_HD constexpr int rank() const {
    if (is_flat()) return count;
    int modes = 1, depth = 0;
    for (int k = 0; k + 1 < count; ++k) {
      depth += opens_at(k) - closes_at(k);
      modes += depth == 1;
    }
    return modes;
  }
  /// The first leaf of mode i; `mode_begin(rank())` is leaves().
  TESSERA_HD constexpr int mode_begin(int i) const {
    if (is_flat()) return i;
    int mode = 0, depth = 0;
    for (int k = 0; k < count; ++k) {
      if (mode == i) return k;
      depth += opens_at(k) - closes_at(k);
      mode += depth == 1;
    }
    return count;
  }
  /// Mode i, a number or a tuple. The only mode of a number is the number.
  constexpr IntTuple mode(int i) const;
  constexpr IntTuple operator[](int i) const { return mode(i); }

  TESSERA_HD constexpr bool is_static() const {
    for (int k = 0; k < count; ++k)
      if (numbers[k] == dynamic) return false;
    return true;
  }
  /// The product of all numbers; dynamic when one is.
  TESSERA_HD constexpr index_t product() const {
    index_t all = 1;
    for (int k = 0; k < count; ++k) all = checked_mul(all, numbers[k]);
    return all;
  }
  /// 0 for a number, 1 for (2,3), 2 for (2,(3,4)).
  constexpr int depth() const {
    int deepest = 0, now = 0;
    for (int k = 0; k < count; ++k) {
      now += opens_at(k);
      deepest = now > deepest ? now : deepest;
      now -= closes_at(k);
    }
    return deepest;
  }
  /// The same brackets with other numbers: set one at a time.
  constexpr IntTuple with_leaf(int i, index_t number) const {
    IntTuple out = *this;
    out.numbers.set(i, number);
    return out;
  }

  friend constexpr bool operator==(const IntTuple&, const IntTuple&) = default;
};

/// Collects modes: `TupleBuilder b; b.push(2); b.push(tuple(3, 4)); b.done()` is (2,(3,4)).
struct TupleBuilder {
  IntTuple modes;  // without the outer brackets
  int pushed = 0;

  constexpr TupleBuilder() { modes.count = 0; }

  constexpr void push(const IntTuple& mode) {
    if (modes.count + mode.count > kMaxLeaves)
      refused::a_tuple_has_at_most_16_numbers(index_t{modes.count} + mode.count);
    for (int k = 0; k < mode.count; ++k) modes.numbers.set(modes.count + k, mode.leaf(k));
    modes.opens |= mode.opens << (4 * modes.count);
    modes.closes |= mode.closes << (4 * modes.count);
    modes.count += mode.count;
    ++pushed;
  }

  constexpr IntTuple done() const {
    if (modes.count == 0) refused::a_tuple_has_at_least_one_number();
    if (modes.count == 1) return IntTuple(modes.numbers.v0);
    if (modes.opens_at(0) == 15 || modes.closes_at(modes.count - 1) == 15)
      refused::a_tuple_nests_at_most_15_deep();
    IntTuple out = modes;
    out.opens += 1;
    out.closes += std::uint64_t{1} << (4 * (out.count - 1));
    return out;
  }
};

constexpr IntTuple IntTuple::mode(int i) const {
  if (i < 0 || i >= rank()) refused::there_is_no_such_mode(*this, i);
  if (is_leaf()) return *this;
  const int begin = mode_begin(i), end = mode_begin(i + 1);
  if (end - begin == 1) return IntTuple(numbers[begin]);
  IntTuple out;
  out.count = end - begin;
  for (int k = begin; k < end; ++k) out.numbers.set(k - begin, numbers[k]);
  const std::uint64_t mask =
      out.count == kMaxLeaves ? ~std::uint64_t{0} : (std::uint64_t{1} << (4 * out.count)) - 1;
  out.opens = opens >> (4 * begin) & mask;
  out.closes = closes >> (4 * begin) & mask;
  if (begin == 0) out.opens -= 1;  // our own outer brackets
  if (end == count) out.closes -= std::uint64_t{1} << (4 * (out.count - 1));
  return out;
}

/// tuple(2, tuple(3, 4)) is (2,(3,4)); tuple(4) is 4.
template <class... Parts>
constexpr IntTuple tuple(const Parts&... parts) {
  TupleBuilder out;
  (out.push(IntTuple(parts)), ...);
  return out.done();
}

/// Two tuples with the same brackets; the numbers may differ.
TESSERA_HD constexpr bool congruent(const IntTuple& a, const IntTuple& b) {
  return a.count == b.count && a.opens == b.opens && a.closes == b.closes;
}

/// All numbers in one level: ((1,2),3) becomes (1,2,3).
constexpr IntTuple flatten(const IntTuple& t) {
  if (t.is_leaf()) return t;
  IntTuple out = t;
  out.opens = 1;
  out.closes = std::uint64_t{1} << (4 * (t.count - 1));
  return out;
}

}  // namespace tessera

#if defined(__CUDACC__)
#pragma nv_diagnostic pop
#endif
