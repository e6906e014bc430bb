// Which lane of a warp has which elements of a matrix instruction's operands: Layout values that
// map (lane, value) to the position (column-major) in the fragment's matrix. Those of 32 lanes are
// after PTX ISA 8.x, section 9.7.14.5 "mma"; those of 64 lanes after AMD's CDNA instruction sets
// ("MFMA"), as AMD's Matrix Instruction Calculator prints them.
#pragma once

#include "tessera/layout/layout.hpp"

namespace tessera {

/// Extents of one matrix instruction: D (m,n) = A (m,k) * B (k,n) + C.
struct MmaShape {
  int m = 16, n = 8, k = 8;
  constexpr bool operator==(const MmaShape&) const = default;
};

namespace detail {

/// The warp size for an instruction of this shape: square shapes are AMD's.
constexpr int lanes_of(MmaShape s) { return s.m == s.n ? 64 : 32; }

/// (lane, value) -> row + m * column of A for 64 lanes: m lanes hold a row each, all of them the
/// same neighbouring columns; the next m lanes hold the columns after these. B is held alike, with
/// columns for rows.
template <class In, MmaShape S>
constexpr Layout fragment_of_64() {
  constexpr int groups = 64 / S.m, values = S.k / groups;
  return {tuple(tuple(S.m, groups), values), tuple(tuple(1, S.m * values), values > 1 ? S.m : 0)};
}

/// (lane, value) -> row + m * column of A, by the bits of one element and the depth of the
/// instruction.
template <class In, MmaShape S>
constexpr Layout fragment_a() {
  if constexpr (lanes_of(S) == 64) return fragment_of_64<In, S>();
  else if constexpr (sizeof(In) == 8)
    return {tuple(tuple(4, 8), tuple(2, S.k / 4)), tuple(tuple(16, 1), tuple(8, 64))};
  else if constexpr (sizeof(In) == 4 && S.k == 4)
    return {tuple(tuple(4, 8), 2), tuple(tuple(16, 1), 8)};
  else if constexpr (sizeof(In) == 4)
    return {tuple(tuple(4, 8), tuple(2, 2)), tuple(tuple(16, 1), tuple(8, 64))};
  else if constexpr (sizeof(In) == 2 && S.k == 8)
    return {tuple(tuple(4, 8), tuple(2, 2)), tuple(tuple(32, 1), tuple(16, 8))};
  else if constexpr (sizeof(In) == 2)
    return {tuple(tuple(4, 8), tuple(2, 2, 2)), tuple(tuple(32, 1), tuple(16, 8, 128))};
  else return {tuple(tuple(4, 8), tuple(4, 2, 2)), tuple(tuple(64, 1), tuple(16, 8, 256))};
}

/// (lane, value) -> n-index + n * k-index of B.
template <class In, MmaShape S>
constexpr Layout fragment_b() {
  if constexpr (lanes_of(S) == 64) return fragment_of_64<In, S>();
  else if constexpr (sizeof(In) == 8) return {tuple(tuple(4, 8), S.k / 4), tuple(tuple(8, 1), 32)};
  else if constexpr (sizeof(In) == 4 && S.k == 4)
    return {tuple(tuple(4, 8), 1), tuple(tuple(8, 1), 0)};
  else if constexpr (sizeof(In) == 4) return {tuple(tuple(4, 8), 2), tuple(tuple(8, 1), 32)};
  else if constexpr (sizeof(In) == 2 && S.k == 8)
    return {tuple(tuple(4, 8), 2), tuple(tuple(16, 1), 8)};
  else if constexpr (sizeof(In) == 2)
    return {tuple(tuple(4, 8), tuple(2, 2)), tuple(tuple(16, 1), tuple(8, 64))};
  else return {tuple(tuple(4, 8), tuple(4, 2)), tuple(tuple(32, 1), tuple(8, 128))};
}

/// (lane, value) -> row + m * column of C and D: the same for all types.
template <MmaShape S>
constexpr Layout fragment_c() {
  if constexpr (S.m == 32)
    return {tuple(tuple(32, 2), tuple(4, 4)), tuple(tuple(32, 4), tuple(1, 8))};
  else if constexpr (S.n == 16) return {tuple(tuple(16, 4), 4), tuple(tuple(16, 4), 1)};
  else return {tuple(tuple(4, 8), tuple(2, 2)), tuple(tuple(32, 1), tuple(16, 8))};
}

/// A position in a fragment's matrix: row (of B column), and column (of B row).
struct PlaceInFragment {
  int mn, k;
};
template <Layout L, int Rows>
constexpr bool lanes_and_values_add_up() {
  for (int lane = 0; lane < static_cast<int>(L.mode(0).size()); ++lane) {
    for (int value = 0; value < static_cast<int>(L.mode(1).size()); ++value)
      if (L(lane, 0) % Rows + L(0, value) % Rows >= Rows) return false;
  }
  return true;
}
/// Where `value` of a lane is in a matrix of `Rows` rows. The values of a lane are at constant
/// distances: their accesses need one address.
template <Layout L, int Rows>
TESSERA_HD constexpr PlaceInFragment place_in(int lane, int value) {
  static_assert(lanes_and_values_add_up<L, Rows>(),
                "a lane's values are at the same distances in every lane");
  const int first = static_cast<int>(index_of<L>(lane, 0));
  const int next = static_cast<int>(index_of<L>(0, value));
  return {first % Rows + next % Rows, first / Rows + next / Rows};
}

}  // namespace detail

}  // namespace tessera
