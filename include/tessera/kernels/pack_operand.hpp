// Copies an operand (mn,k) of any strides to where bulk copies can read it: rows along k, each at a
// multiple of 16 bytes, zeros past the end of k. As three planes, each element of f32 becomes the
// sum of three bf16, which are side by side in a row: first all high parts, then the middle, then
// the low ones. A tile goes through shared memory, so that neighbours move together on both sides.
#pragma once

#include "tessera/core/dtype.hpp"
#include "tessera/ops/epilogue.hpp"
#include "tessera/simt/dim3.hpp"
#include "tessera/simt/shared.hpp"
#include "tessera/tensor/arithmetic.hpp"
#include "tessera/tensor/storage.hpp"
#include "tessera/tensor/tile.hpp"

namespace tessera {

/// The first is x rounded to bf16, each further one what the others leave, rounded: exact but for
/// x below 2^-110. An infinity or NaN is in the first alone.
struct ThreeBf16 {
  bf16 parts[3];
};
TESSERA_HD constexpr ThreeBf16 three_bf16(float x) {
  const auto is_finite = [](float value) { return value - value == 0; };
  ThreeBf16 out{};
  TESSERA_UNROLL_REGISTERS
  for (int i = 0; i < 3; ++i) {
    bf16 part = convert<bf16>(x);
    if (is_finite(x) && !is_finite(part)) part.bits -= 1;  // the largest finite one
    out.parts[i] = part;
    const float left = x - static_cast<float>(part);
    x = is_finite(left) ? left : 0;
  }
  return out;
}

/// The depth of a plane, in elements: tiles of 128 bytes.
template <class To>
constexpr index_t packed_depth(index_t K) {
  constexpr index_t in_tile = 128 / sizeof(To);
  return (K + in_tile - 1) / in_tile * in_tile;
}

template <int Planes>
struct PackOperand {
  static_assert(Planes == 1 || Planes == 3, "pack_operand: one plane, or three of bf16");
  static constexpr const char* name = "pack_operand";
  static constexpr int side = 32, threads = 256;
  static constexpr Dim3 block{threads};
  /// For rows of `depth` elements in each plane.
  static constexpr Dim3 grid(index_t rows, index_t depth) {
    return grid_of(name, ceil_div(depth, side), ceil_div(rows, side));
  }
  template <class T>
  struct Shared {
    Storage<T, Layout{tuple(side, side), tuple(side + 1, 1)}> tile;
  };

  /// `from` is (MN,K); `to` has MN rows of Planes * depth elements, one after another.
  TESSERA_KERNEL void operator()(auto t, auto from, auto to, index_t depth) const {
    using T = ElementOf<decltype(from)>;
    auto tile = shared<Shared<T>>(t).tile.view();  // (32,32)
    const index_t row = index_t{t.block.y} * side, col = index_t{t.block.x} * side;
    const index_t rows = valid<0>(from), cols = valid<1>(from);
    const bool along_k = runs_along_rows(from);
    for (int at = t.thread; at < side * side; at += threads) {
      const int i = along_k ? at / side : at % side, k = along_k ? at % side : at / side;
      tile(i, k) = row + i < rows && col + k < cols ? T(from(row + i, col + k)) : T{};
    }
    t.barrier();  // the tile is complete
    for (int at = t.thread; at < side * side; at += threads) {
      const int i = at / side, k = at % side;
      if (row + i >= rows || col + k >= depth) continue;
      const index_t first = (row + i) * Planes * depth + col + k;
      if constexpr (Planes == 1) {
        to(first) = T(tile(i, k));
      } else {
        const ThreeBf16 all = three_bf16(tile(i, k));
        TESSERA_UNROLL_REGISTERS
        for (int plane = 0; plane < Planes; ++plane) to(first + plane * depth) = all.parts[plane];
      }
    }
  }
};

}  // namespace tessera
