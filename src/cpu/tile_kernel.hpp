// The microkernel and the packing for units that multiply whole tiles of 16 rows of 16 K-groups
// (Intel AMX). Unit is one of them: in kernels/amx.cpp the instructions, in the tests their
// emulation.
//   configure(config) release()               sets the shapes of the eight tiles; releases them
//   zero<T>() load<T>(p, step) store<T>(p, step)   tile T; its rows are `step` bytes apart
//   load_once<T>(p, step)       the same of what need not stay in L1
//   dot<C, A, B>()      C(i, j) += sum over k of A(i, k) B(k, j), multiplied K-group by K-group
//
// A micro-tile is 2 x 2 tiles of sums, so that each tile of A and of B is read once for two dots.
// Measurements: bench/results/cpu/tuning.md.
#pragma once

#include "make_kernels.hpp"

namespace tessera::cpu {

constexpr int kTile = 16;  ///< rows, and K-groups in a row

/// The use of the eight tiles: sums (i, j) in 2 i + j.
constexpr int kTileA = 4, kTileB = 6;

/// The operand of ldtilecfg (Intel SDM vol. 1, 18.2).
struct alignas(64) TileConfig {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};
static_assert(sizeof(TileConfig) == 64);

/// Tile shapes for a micro-tile of rows x cols, clipped to C.
template <class Unit>
constexpr TileConfig tile_config(int rows, int cols) {
  TileConfig out;
  const auto part = [](int extent, int i) {
    const int left = extent - i * kTile;
    return left < kTile ? left : kTile;
  };
  const auto shape = [&](int tile, int tile_rows, int k_groups) {
    if (tile_rows <= 0 || k_groups <= 0) return;
    out.rows[tile] = static_cast<std::uint8_t>(tile_rows);
    out.row_bytes[tile] = static_cast<std::uint16_t>(4 * k_groups);
  };
  for (int i = 0; i < 2; ++i) {
    shape(kTileA + i, part(rows, i), kTile);
    shape(kTileB + i, kTile, part(cols, i));
    for (int j = 0; j < 2; ++j) shape(2 * i + j, part(rows, i), part(cols, j));
  }
  return out;
}

/// Down x Across tiles. Panels are as pack_tiles_a and pack_tiles_b make them.
template <class Unit, int Down, int Across, class Sum>
void multiply_tiles(const MicroTile<std::uint32_t, Sum>& call) {
  const index_t b_step = call.b_k * 4, c_step = call.c_row * 4;
  const auto each = [&](auto&& body) {
    body.template operator()<0, 0>();
    if constexpr (Across > 1) body.template operator()<0, 1>();
    if constexpr (Down > 1) body.template operator()<1, 0>();
    if constexpr (Down > 1 && Across > 1) body.template operator()<1, 1>();
  };
  const auto sums = [&](int i, int j) { return call.c + i * kTile * call.c_row + j * kTile; };
  each([&]<int I, int J>() {
    if (call.resume) Unit::template load<2 * I + J>(sums(I, J), c_step);
    else Unit::template zero<2 * I + J>();
  });
  const std::uint32_t *a = call.a, *b = call.b;
  for (index_t k = 0; k < call.K; k += kTile, a += 2 * kTile * kTile, b += kTile * call.b_k) {
    Unit::template load<kTileA>(a, 4 * kTile);
    Unit::template load_once<kTileB>(b, b_step);
    Unit::template dot<0, kTileA, kTileB>();
    if constexpr (Across > 1) {
      Unit::template load_once<kTileB + 1>(b + kTile, b_step);
      Unit::template dot<1, kTileA, kTileB + 1>();
    }
    if constexpr (Down > 1) {
      Unit::template load<kTileA + 1>(a + kTile * kTile, 4 * kTile);
      Unit::template dot<2, kTileA + 1, kTileB>();
      if constexpr (Across > 1) Unit::template dot<3, kTileA + 1, kTileB + 1>();
    }
  }
  each([&]<int I, int J>() { Unit::template store<2 * I + J>(sums(I, J), c_step); });
}

/// Configuring waits for all earlier instructions: once for many whole micro-tiles.
template <class Unit>
void configure_whole() {
  static constexpr TileConfig whole = tile_config<Unit>(2 * kTile, 2 * kTile);
  Unit::configure(whole);
}

/// A microkernel for up to 2 x `Across` tiles; K is rounded up to whole tiles.
template <class Unit, int Across, class Sum>
void tile_kernel(const MicroTile<std::uint32_t, Sum>& call) {
  const bool is_whole = call.rows == 2 * kTile && call.cols == 2 * kTile;
  if (!is_whole) Unit::configure(tile_config<Unit>(call.rows, call.cols));
  if (call.rows > kTile) multiply_tiles<Unit, 2, Across>(call);
  else multiply_tiles<Unit, 1, Across>(call);
  if (!is_whole) configure_whole<Unit>();
}

/// K-groups of a panel beyond its elements, for each line: room for zeros up to whole tiles.
constexpr int kTileExtra = kTile - 1;

/// See Pack. K-group (i, k) of a panel at k * width + i, as pack_groups has it, then rows of zeros
/// up to a multiple of 16: a tile of B is 16 rows of that.
template <class V, class G>
void pack_tiles_b(std::uint32_t* dst, int width, const typename G::source* src, index_t lines,
                  index_t K, index_t s_line, index_t s_k) {
  const index_t k_groups = (K + V::group - 1) / V::group;
  const index_t whole = (k_groups + kTile - 1) / kTile * kTile;
  for (index_t line = 0; line < lines; line += width, dst += width * (k_groups + kTileExtra)) {
    const index_t here = lines - line < width ? lines - line : width;
    pack_groups<V, G>(dst, width, src + line * s_line, here, K, s_line, s_k);
    for (index_t i = width * k_groups; i < width * whole; ++i) dst[i] = 0;
  }
}

/// See Pack. The K-groups of a line are contiguous, 16 of them, before those of the next line: a
/// tile of A is 16 such lines. K-group (i, k) at (k / 16 * width + i) * 16 + k % 16.
template <class V, class G>
void pack_tiles_a(std::uint32_t* dst, int width, const typename G::source* src, index_t lines,
                  index_t K, index_t s_line, index_t s_k) {
  constexpr index_t deep = kTile * V::group;
  const index_t k_groups = (K + V::group - 1) / V::group;
  for (index_t line = 0; line < lines; line += width, dst += width * (k_groups + kTileExtra)) {
    const index_t here = lines - line < width ? lines - line : width;
    std::uint32_t* to = dst;
    for (index_t k = 0; k < K; k += deep, to += width * kTile) {
      const auto* from = src + line * s_line + k * s_k;
      const index_t left = K - k < deep ? K - k : deep;
      if (s_k == 1 && left == deep) {
        for (index_t i = 0; i < here; ++i)
          __builtin_memcpy(to + i * kTile, from + i * s_line, 4 * kTile);
        for (index_t i = here * kTile; i < width * kTile; ++i) to[i] = 0;
        continue;
      }
      alignas(64) std::uint32_t columns[kTile * 2 * kTile];  // (width,16)
      pack_groups<V, G>(columns, width, from, here, left, s_line, s_k);
      for (index_t i = (left + V::group - 1) / V::group * width; i < width * kTile; ++i)
        columns[i] = 0;
      pack_panel<V>(to, kTile, columns, kTile, width, width, 1);
    }
  }
}

/// The table of one type: V is used for epilogues and packing only; G as pack_groups wants it.
template <class Unit, class V, class G>
constexpr Kernels<typename G::source, std::uint32_t, typename V::sum> make_tile_kernels(
    const char* isa) {
  Kernels<typename G::source, std::uint32_t, typename V::sum> out{};
  out.isa = isa;
  out.rows = 2 * kTile, out.lanes = kTile, out.vectors = 2;
  out.group = V::group, out.a_extra = out.b_extra = kTileExtra;
  // Released, or the system would save 8 KiB at each context switch.
  out.prepare = configure_whole<Unit>, out.release = Unit::release;
  for (auto& entry : out.packed) {
    entry[0] = tile_kernel<Unit, 1, typename V::sum>;
    entry[1] = tile_kernel<Unit, 2, typename V::sum>;
  }
  out.pack_a = pack_tiles_a<V, G>;
  out.pack_b = pack_tiles_b<V, G>;
  out.finish = finish_rows<V>;
  if constexpr (std::is_integral_v<typename V::sum>) out.to_f32 = to_f32<V>;
  return out;
}

}  // namespace tessera::cpu
