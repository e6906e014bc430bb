// slice(t, every, 3, between(2, 6)): one argument for each mode. A position fixes its mode, and the
// rank drops; `every` keeps it; `between` keeps a part of it. No element is copied. A slice of a
// clipped tensor is clipped too, and empty beyond the edge.
//
// Positions and bounds given as constants, at<3>() and between<2, 6>(), are checked at compile time
// where the extent is static; all others are checked on the CPU, once for each slice.
#pragma once

#include "tessera/tensor/assemble.hpp"
#include "tessera/tensor/refused.hpp"

namespace tessera {

/// The whole mode.
enum Every : int { every };

/// Positions begin .. end - 1 of a mode.
struct Between {
  index_t begin, end;
};
TESSERA_HD constexpr Between between(index_t begin, index_t end) { return {begin, end}; }

template <index_t Begin, index_t End>
struct StaticBetween {
  static_assert(0 <= Begin && Begin <= End, "between<begin, end>(): 0 <= begin <= end must hold");
};
template <index_t Begin, index_t End>
TESSERA_HD constexpr StaticBetween<Begin, End> between() {
  return {};
}

/// A position known when compiled.
template <index_t Position>
TESSERA_HD constexpr std::integral_constant<index_t, Position> at() {
  return {};
}

namespace detail {

/// The effect of one argument of slice() on its mode. Fixed positions have keeps = false.
template <class Argument>
struct SliceArgument {
  static_assert(std::is_convertible_v<Argument, index_t>,
                "slice: each argument is a position, at<I>(), every, or between(begin, end)");
  static constexpr bool keeps = false, cuts = false;
  static constexpr bool fits(index_t) { return true; }
  static constexpr IntTuple shape(const IntTuple&) { return 1; }
  static TESSERA_HD constexpr index_t begin(Argument position) {
    return static_cast<index_t>(position);
  }
  static TESSERA_HD constexpr void require(Argument position, index_t extent, int mode) {
    require_position(static_cast<index_t>(position), extent, mode);
  }
};
template <index_t Position>
struct SliceArgument<std::integral_constant<index_t, Position>> {
  static constexpr bool keeps = false, cuts = false;
  static constexpr bool fits(index_t extent) {
    return 0 <= Position && (extent == dynamic || Position < extent);
  }
  static constexpr IntTuple shape(const IntTuple&) { return 1; }
  static TESSERA_HD constexpr index_t begin(std::integral_constant<index_t, Position>) {
    return Position;
  }
  static TESSERA_HD constexpr void require(std::integral_constant<index_t, Position>,
                                           index_t extent, int mode) {
    require_position(Position, extent, mode);
  }
};
template <>
struct SliceArgument<Every> {
  static constexpr bool keeps = true, cuts = false;
  static constexpr bool fits(index_t) { return true; }
  static constexpr IntTuple shape(const IntTuple& mode) { return mode; }
  static TESSERA_HD constexpr index_t begin(Every) { return 0; }
  static TESSERA_HD constexpr index_t end(Every, index_t extent) { return extent; }
  static TESSERA_HD constexpr void require(Every, index_t, int) {}
};
template <>
struct SliceArgument<Between> {
  static constexpr bool keeps = true, cuts = true;
  static constexpr bool fits(index_t) { return true; }
  static constexpr IntTuple shape(const IntTuple&) { return dynamic; }
  static TESSERA_HD constexpr index_t begin(Between b) { return b.begin; }
  static TESSERA_HD constexpr index_t end(Between b, index_t) { return b.end; }
  static TESSERA_HD constexpr void require(Between b, index_t extent, int) {
    require_range(b.begin, b.end, extent);
  }
};
template <index_t Begin, index_t End>
struct SliceArgument<StaticBetween<Begin, End>> {
  static constexpr bool keeps = true, cuts = true;
  static constexpr bool fits(index_t extent) { return extent == dynamic || End <= extent; }
  static constexpr IntTuple shape(const IntTuple&) { return End - Begin; }
  static TESSERA_HD constexpr index_t begin(StaticBetween<Begin, End>) { return Begin; }
  static TESSERA_HD constexpr index_t end(StaticBetween<Begin, End>, index_t) { return End; }
  static TESSERA_HD constexpr void require(StaticBetween<Begin, End>, index_t extent, int) {
    require_range(Begin, End, extent);
  }
};

/// The layout of a slice, and which leaf and mode of the parent each of its leaves and modes is.
template <Layout L, class... Arguments>
struct SlicePlan {
  static constexpr int rank = (0 + ... + static_cast<int>(SliceArgument<Arguments>::keeps));

  static constexpr Layout make_pattern() {
    TupleBuilder shape, stride;
    int mode = 0;
    const auto add = [&]<class A>(std::type_identity<A>) {
      if constexpr (SliceArgument<A>::keeps) {
        shape.push(SliceArgument<A>::shape(L.shape.mode(mode)));
        stride.push(L.stride.mode(mode));
      }
      ++mode;
    };
    (add(std::type_identity<Arguments>{}), ...);
    return {shape.done(), stride.done()};
  }
  /// The mode of the parent that mode m of the slice is.
  static constexpr int parent_mode(int m) {
    constexpr bool keeps[] = {SliceArgument<Arguments>::keeps...};
    for (int mode = 0;; ++mode) {
      if (keeps[mode] && m-- == 0) return mode;
    }
  }
  /// The mode of the slice that leaf i of it belongs to.
  static constexpr int mode_of_leaf(int i) {
    constexpr Layout pattern = make_pattern();
    int mode = 0;
    while (pattern.shape.mode_begin(mode + 1) <= i) ++mode;
    return mode;
  }
  static constexpr int parent_leaf(int i) {
    const int mode = mode_of_leaf(i);
    return leaves_before(L.shape, parent_mode(mode)) + i - make_pattern().shape.mode_begin(mode);
  }
};

/// Argument number I.
template <int I, class First, class... Rest>
TESSERA_HD constexpr auto nth(First first, Rest... rest) {
  if constexpr (I == 0) return first;
  else return nth<I - 1>(rest...);
}

}  // namespace detail

/// The part of t that the arguments keep, one argument for each mode: a position (fixes the mode),
/// every, between(begin, end). slice(t, 3, every) of an (M,N) tensor is row 3, an (N) tensor.
template <class P, Layout L, class E, class... A>
TESSERA_HD constexpr auto slice(const Tensor<P, L, E>& t, A... arguments) {
  using T = Tensor<P, L, E>;
  static_assert(
      sizeof...(A) == T::rank,
      "slice takes one argument for each mode: a position, every, or between(begin, end)");
  using Plan = detail::SlicePlan<L, A...>;
  static_assert(Plan::rank > 0,
                "slice keeps at least one mode: read a single element with t(i, j)");
  [&]<int... M>(std::integer_sequence<int, M...>) {
    static_assert((detail::SliceArgument<A>::fits(L.shape.mode(M).product()) && ...),
                  "slice: a constant position or bound is outside the extent of its mode");
    static_assert(((!detail::SliceArgument<A>::cuts || L.shape.mode(M).leaves() == 1) && ...),
                  "slice: only a mode that is no nested tuple can be cut with between()");
    (detail::SliceArgument<A>::require(arguments, t.template extent<M>(), M), ...);
  }
  (std::make_integer_sequence<int, T::rank>{});
  constexpr Layout pattern = Plan::make_pattern();

  const index_t start = t.offset(detail::SliceArgument<A>::begin(arguments)...);
  const auto shape_leaf = [&](auto leaf) {
    constexpr int kMode = Plan::parent_mode(Plan::mode_of_leaf(leaf));
    const auto argument = detail::nth<kMode>(arguments...);
    if constexpr (std::is_same_v<std::remove_cv_t<decltype(argument)>, Between>)
      return argument.end - argument.begin;
    else return t.template shape_leaf<Plan::parent_leaf(leaf)>();
  };
  const auto stride_leaf = [&](auto leaf) {
    return t.template stride_leaf<Plan::parent_leaf(leaf)>();
  };
  if constexpr (!T::is_clipped) {
    return detail::assemble<pattern>(t.data() + start, Whole{}, shape_leaf, stride_leaf);
  } else {
    // A fixed position past the edge leaves an empty slice.
    bool exists = true;
    [&]<int... M>(std::integer_sequence<int, M...>) {
      exists = ((detail::SliceArgument<A>::keeps ||
                 detail::SliceArgument<A>::begin(arguments) < t.template valid<M>()) &&
                ...);
    }
    (std::make_integer_sequence<int, T::rank>{});
    const auto edge = detail::clipped_by<Plan::rank>([&](auto m) {
      constexpr int kMode = Plan::parent_mode(m);
      const auto argument = detail::nth<kMode>(arguments...);
      using Kept = detail::SliceArgument<std::remove_cv_t<decltype(argument)>>;
      const index_t begin = Kept::begin(argument);
      const index_t length = Kept::end(argument, t.template extent<kMode>()) - begin;
      return exists ? detail::clamp_to(t.template valid<kMode>() - begin, length) : 0;
    });
    return detail::assemble<pattern>(t.data() + start, edge, shape_leaf, stride_leaf);
  }
}

/// Row i of a matrix: (N).
template <class P, Layout L, class E>
TESSERA_HD constexpr auto row(const Tensor<P, L, E>& t, index_t i) {
  static_assert(L.rank() == 2, "row(t, i) takes a matrix; use slice for other ranks");
  return slice(t, i, every);
}
/// Column j of a matrix: (M).
template <class P, Layout L, class E>
TESSERA_HD constexpr auto column(const Tensor<P, L, E>& t, index_t j) {
  static_assert(L.rank() == 2, "column(t, j) takes a matrix; use slice for other ranks");
  return slice(t, every, j);
}

}  // namespace tessera
