// Microkernels of the order `lanes` (tessera/cpu/lanes.hpp). Both operands are contiguous along K,
// so vectors run along K: 64 bytes of running sums are the chains of one element of C. Several
// elements share each load. At the end the lanes of several elements are added in one vector. V is
// a vector type as microkernel.hpp describes it, with
//   fma_first(mask, p, q, acc)   multiply-adds of the first lanes alone, of elements at p and q
//   folded<W>(u, v)              lanes l and l + W are added, for each l without the bit W:
//                                those of u into lane l,
//                                those of v into lane l + W
#pragma once

#include <bit>
#include <cstring>

#include "microkernel.hpp"

namespace tessera::cpu {

/// The vectors of 64 bytes.
template <class V>
constexpr int kLaneVectors = 64 / (V::lanes * static_cast<int>(sizeof(typename V::sum)));

/// The distance of rows of N sums that are folded: no row is in two vectors unless it fills one.
template <class V>
constexpr int folded_row(int N) {
  return N <= V::lanes ? static_cast<int>(std::bit_ceil(static_cast<unsigned>(N)))
                       : (N + V::lanes - 1) / V::lanes * V::lanes;
}

/// A vector of the sums at O, O + 1, ..., each of the lanes of its acc; W: lanes at this distance
/// are added last. Sums beyond R rows of N are not computed.
template <class V, int R, int N, int O, int W = 1>
[[gnu::always_inline]] inline typename V::type folded_lanes(const typename V::type (&acc)[R * N]) {
  constexpr int row = folded_row<V>(N), other = O + W;
  if constexpr (W == V::lanes) {
    return acc[O / row * N + O % row];
  } else {
    const auto u = folded_lanes<V, R, N, O, 2 * W>(acc);
    if constexpr (other / row < R && other % row < N)
      return V::template folded<W>(u, folded_lanes<V, R, N, other, 2 * W>(acc));
    else return V::template folded<W>(u, u);
  }
}

/// Stores the sums of the lanes of R rows of N elements.
template <class V, int R, int N>
[[gnu::always_inline]] inline void store_folded(typename V::sum* c, index_t c_row,
                                                const typename V::type (&acc)[R * N]) {
  constexpr int row = folded_row<V>(N), vectors = (R * row + V::lanes - 1) / V::lanes;
  alignas(64) typename V::sum sums[vectors * V::lanes];
  each_constant<vectors>([&]<int G>() {
    constexpr int O = G * V::lanes;
    const auto folded = folded_lanes<V, R, N, O>(acc);
    if constexpr (R > 1) V::store(sums + O, folded);
    else if constexpr (O + V::lanes <= N) V::store(c + O, folded);
    else V::store_first(c + O, V::first(N - O), folded);
  });
  TESSERA_UNROLL
  for (int i = 0; R > 1 && i < R; ++i)
    std::memcpy(c + i * c_row, sums + i * row, N * sizeof(typename V::sum));
}

/// Compilers compute several pointers in vectors, store them and wait for the stores.
template <class T>
[[gnu::always_inline]] inline T* in_register(T* p) {
  asm("" : "+r"(p));
  return p;
}

/// R rows and N columns of C.
template <class V, int R, int N>
void lane_tile(const ChainTile<typename V::sum>& call) {
  using T = typename V::sum;
  constexpr int vectors = kLaneVectors<V>, chains = vectors * V::lanes;
  typename V::type acc[vectors][R * N];
  each<vectors, R * N>([&](int p, int o) { acc[p][o] = V::zero(); });
  // Three lines from one pointer: see micro_tile().
  const index_t a_row = call.a_row, b_col = call.b_col;
  const T *a[(R + 2) / 3], *b[(N + 2) / 3];
  TESSERA_UNROLL
  for (int i = 0; i < R; i += 3) a[i / 3] = in_register(i == 0 ? call.a : a[i / 3 - 1] + 3 * a_row);
  TESSERA_UNROLL
  for (int j = 0; j < N; j += 3) b[j / 3] = in_register(j == 0 ? call.b : b[j / 3 - 1] + 3 * b_col);
  index_t k = call.K;
  for (; k >= chains; k -= chains) {
    TESSERA_UNROLL
    for (int p = 0; p < vectors; ++p) {
      typename V::type x[R];
      TESSERA_UNROLL
      for (int i = 0; i < R; ++i) x[i] = V::load(a[i / 3] + i % 3 * a_row + p * V::lanes);
      TESSERA_UNROLL
      for (int j = 0; j < N; ++j) {
        auto y = V::load(b[j / 3] + j % 3 * b_col + p * V::lanes);
        // Or GCC would load it again for each row.
        if constexpr (R > 1 && requires { &V::keep_in_register; }) V::keep_in_register(y);
        TESSERA_UNROLL
        for (int i = 0; i < R; ++i) acc[p][i * N + j] = V::fma(x[i], y, acc[p][i * N + j]);
      }
    }
    TESSERA_UNROLL
    for (auto& line : a) line = in_register(line + chains);
    TESSERA_UNROLL
    for (auto& line : b) line = in_register(line + chains);
  }
  TESSERA_UNROLL
  for (int p = 0; p < vectors; ++p) {
    const int left = static_cast<int>(k) - p * V::lanes;
    if (left <= 0) break;
    const auto mask = V::first(left < V::lanes ? left : V::lanes);
    each<R, N>([&](int i, int j) {
      acc[p][i * N + j] = V::fma_first(mask, a[i / 3] + i % 3 * a_row + p * V::lanes,
                                       b[j / 3] + j % 3 * b_col + p * V::lanes, acc[p][i * N + j]);
    });
  }
  TESSERA_UNROLL
  for (int half = vectors / 2; half > 0; half /= 2) {
    TESSERA_UNROLL
    for (int p = 0; p < half; ++p) {
      TESSERA_UNROLL
      for (int o = 0; o < R * N; ++o) acc[p][o] = V::add(acc[p][o], acc[p + half][o]);
    }
  }
  store_folded<V, R, N>(call.c, call.c_row, acc[0]);
}

/// Columns of tiles of some rows, and the most rows, where registers hold `sums` elements of C.
constexpr int kMostLaneRows = 4, kMostLaneColumns = 16;
constexpr int lane_columns(int sums, int rows) {
  const int columns = sums / rows;
  return columns < 1 ? 1 : columns < kMostLaneColumns ? columns : kMostLaneColumns;
}
constexpr int lane_rows(int sums) {
  int rows = 1;
  while (rows < kMostLaneRows && lane_columns(sums, rows + 1) >= 2) ++rows;
  return rows;
}

/// The tiles of one instruction set.
template <class V, int Sums>
struct LaneTiles {
  static constexpr int kRows = lane_rows(Sums);
  void (*of[kRows][kMostLaneColumns])(const ChainTile<typename V::sum>&);

  constexpr LaneTiles() : of{} {
    each_constant<kRows>([&]<int R>() {
      each_constant<lane_columns(Sums, R + 1)>(
          [&]<int N>() { of[R][N] = lane_tile<V, R + 1, N + 1>; });
    });
  }
};

/// An extent in parts of at most `most`, nearly equal ones: with few sums, a tile would wait for
/// the latency of its chains.
struct LaneParts {
  index_t count = 1, least, larger = 0;  ///< `larger` parts have one more than `least`

  LaneParts(index_t extent, int most) : least(extent) {
    if (extent <= most) return;
    count = (extent + most - 1) / most;
    least = extent / count, larger = extent - least * count;
  }
  int size(index_t part) const { return static_cast<int>(least + (part < larger ? 1 : 0)); }
};

/// See Kernels::lane_sums. All rows of some columns of B, then the next ones. Vectors: the
/// registers for sums.
template <class V, int Vectors>
void lane_sums(const ChainTile<typename V::sum>& call, index_t rows, index_t cols) {
  constexpr int sums = Vectors / kLaneVectors<V>, most_rows = lane_rows(sums);
  static constexpr LaneTiles<V, sums> tiles;
  const LaneParts row_parts(rows, most_rows);
  // Over a short K, adding lanes takes as long as the multiply-adds: in whole vectors of sums.
  constexpr index_t short_k = 8 * 64 / sizeof(typename V::sum);
  const auto columns = static_cast<unsigned>(lane_columns(sums, row_parts.size(0)));
  const LaneParts column_parts(
      cols, static_cast<int>(call.K <= short_k ? std::bit_floor(columns) : columns));
  auto tile = call;
  for (index_t j = 0; j < column_parts.count; ++j) {
    const int width = column_parts.size(j);
    tile.a = call.a;
    auto* const c = tile.c;
    for (index_t i = 0; i < row_parts.count; ++i) {
      const int height = row_parts.size(i);
      tiles.of[height - 1][width - 1](tile);
      tile.a += height * call.a_row, tile.c += height * call.c_row;
    }
    tile.c = c + width, tile.b += width * call.b_col;
  }
}

}  // namespace tessera::cpu
