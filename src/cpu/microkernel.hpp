// The microkernel, written once for every instruction set. V is a vector type of one kernels_<isa>
// file: V::element, V::lanes, V::type and load, load_first, broadcast, fma, store, store_first,
// stream. V lives in an unnamed namespace there, so no instruction of one set leaks into another.
//
// Register budget, MR x NR = 8 x 3 vectors: 24 sums + 3 of B + 1 broadcast of A = 28 of 32
// registers (AVX-512, NEON); 6 x 2 vectors: 12 + 2 + 1 of 16 (AVX2).
#pragma once

#include "kernels.hpp"

namespace tessera::cpu {

enum class A : bool { packed, strided };
enum class B : bool { full, edge };

/// body(r, v) for each vector of a micro-tile, unrolled: r and v are constants in it.
template <int Rows, int Vectors, class Body>
[[gnu::always_inline]] inline void each(Body&& body) {
  TESSERA_UNROLL
  for (int r = 0; r < Rows; ++r) {
    TESSERA_UNROLL
    for (int v = 0; v < Vectors; ++v) body(r, v);
  }
}

template <class V, int MR, int Rows, int Vectors, A PackedA, B EdgeB>
void micro_tile(const MicroTile<typename V::element>& call) {
  using T = typename V::element;
  typename V::type acc[Rows][Vectors];
  const int last = call.cols - V::lanes * (Vectors - 1);  // columns of the last vector
  const auto mask = V::first(last);
  if (call.resume) {
    each<Rows, Vectors>([&](int r, int v) {
      const T* from = call.c + r * call.c_row + v * V::lanes;
      acc[r][v] = v + 1 < Vectors ? V::load(from) : V::load_first(from, mask);
    });
  } else {
    each<Rows, Vectors>([&](int r, int v) { acc[r][v] = V::zero(); });
  }
  if (PackedA == A::packed) {
    each<Rows, Vectors>(
        [&](int r, int v) { __builtin_prefetch(call.next_c + r * call.c_row + v * V::lanes, 1); });
  }
  // Rows r of A at a[r / 3] + r % 3 strides: three pointers and two scaled indices reach all.
  const index_t a_row = PackedA == A::packed ? 1 : call.a_row;
  const index_t a_k = PackedA == A::packed ? MR : call.a_k;
  const T* a[3] = {call.a, call.a + 3 * a_row, call.a + 6 * a_row};
  const T* b = call.b;
  for (index_t k = call.K; k > 0; --k) {
    typename V::type row[Vectors];
    TESSERA_UNROLL
    for (int v = 0; v < Vectors; ++v) {
      row[v] = EdgeB == B::edge && v + 1 == Vectors ? V::load_first(b + v * V::lanes, mask)
                                                    : V::load(b + v * V::lanes);
    }
    TESSERA_UNROLL
    for (int r = 0; r < Rows; ++r) {
      const auto x = V::broadcast(PackedA == A::packed ? a[0] + r : a[r / 3] + (r % 3) * a_row);
      TESSERA_UNROLL
      for (int v = 0; v < Vectors; ++v) acc[r][v] = V::fma(x, row[v], acc[r][v]);
    }
    a[0] += a_k;
    if (Rows > 3) a[1] += a_k;
    if (Rows > 6) a[2] += a_k;
    b += call.b_k;
  }
  const auto at = [&](int r, int v) { return call.c + r * call.c_row + v * V::lanes; };
  if (last != V::lanes) {
    each<Rows, Vectors>([&](int r, int v) {
      if (v + 1 < Vectors) V::store(at(r, v), acc[r][v]);
      else V::store_first(at(r, v), mask, acc[r][v]);
    });
  } else if (call.stream) {
    each<Rows, Vectors>([&](int r, int v) { V::stream(at(r, v), acc[r][v]); });
  } else {
    each<Rows, Vectors>([&](int r, int v) { V::store(at(r, v), acc[r][v]); });
  }
}

/// One panel of up to `width` lines, in any order of strides.
template <class V>
void pack_panel(typename V::element* dst, int width, const typename V::element* src, int lines,
                index_t K, index_t s_line, index_t s_k) {
  using T = typename V::element;
  index_t k = 0;
  if (s_k == 1 && lines == width && V::transposed > 0 && width % V::transposed == 0) {
    for (; k + V::transposed <= K; k += V::transposed) {
      for (int i = 0; i < width; i += V::transposed)
        V::transpose(dst + k * width + i, width, src + i * s_line + k, s_line);
    }
  }
  for (; k < K; ++k) {
    T* to = dst + k * width;
    const T* from = src + k * s_k;
    int i = 0;
    for (; i < lines; ++i) to[i] = from[i * s_line];
    for (; i < width; ++i) to[i] = T{0};
  }
}

/// See Kernels::pack. Lines that lie side by side are copied across all panels at once: whole rows
/// of the source, the way it lies in memory.
template <class V>
void pack_panels(typename V::element* dst, int width, const typename V::element* src, index_t lines,
                 index_t K, index_t s_line, index_t s_k) {
  using T = typename V::element;
  constexpr index_t ahead = 8;  // rows fetched ahead of the copy
  if (s_line == 1) {
    const auto part = V::first((width - 1) % V::lanes + 1);
    for (index_t k = 0; k < K; ++k, src += s_k, dst += width) {
      index_t line = 0;
      T* to = dst;
      for (; line + width <= lines; line += width, to += width * K) {
        int i = 0;
        for (; i + V::lanes < width; i += V::lanes) {
          __builtin_prefetch(src + line + i + ahead * s_k);
          V::store(to + i, V::load(src + line + i));
        }
        __builtin_prefetch(src + line + i + ahead * s_k);
        V::store_first(to + i, part, V::load_first(src + line + i, part));
      }
      if (line == lines) continue;
      for (int i = 0; i < width; ++i) to[i] = line + i < lines ? src[line + i] : T{0};
    }
    return;
  }
  for (index_t line = 0; line < lines; line += width, dst += width * K) {
    const index_t left = lines - line;
    pack_panel<V>(dst, width, src + line * s_line, left < width ? static_cast<int>(left) : width, K,
                  s_line, s_k);
  }
}

template <class V>
void finish_linear(const typename V::element* tile, index_t tile_row, int rows, int cols,
                   typename V::element* c, index_t c_row,
                   const Linear<typename V::element>& linear) {
  using T = typename V::element;
  const auto one = V::splat(T{1}), none = V::zero();
  const auto alpha = V::splat(linear.alpha), beta = V::splat(linear.beta);
  for (int r = 0; r < rows; ++r, tile += tile_row, c += c_row) {
    for (int j = 0; j < cols; j += V::lanes) {
      const int left = cols - j;
      const bool whole = left >= V::lanes;
      const auto mask = V::first(whole ? V::lanes : left);
      const auto load = [&](const T* from) {
        return whole ? V::load(from) : V::load_first(from, mask);
      };
      auto value = load(tile + j);
      if (linear.alpha != T{1}) value = V::mul(alpha, value);
      if (linear.beta != T{0}) value = V::fma(beta, load(c + j), value);
      if (linear.row_bias != nullptr) value = V::fma(one, V::splat(linear.row_bias[r]), value);
      if (linear.column_bias != nullptr) value = V::fma(one, load(linear.column_bias + j), value);
      if (linear.relu) value = V::relu(value, none);
      if (whole) V::store(c + j, value);
      else V::store_first(c + j, mask, value);
    }
  }
}

/// The whole table of one vector type: every micro-tile up to MR rows and `Vectors` vectors.
template <class V, int MR, int Vectors>
constexpr Kernels<typename V::element> make_kernels(const char* isa) {
  Kernels<typename V::element> out{};
  out.isa = isa;
  out.rows = MR, out.lanes = V::lanes, out.vectors = Vectors;
  out.pack = pack_panels<V>;
  out.finish = finish_linear<V>;
  const auto column = [&]<int R, int N>() {
    out.packed[R - 1][N - 1] = micro_tile<V, MR, R, N, A::packed, B::full>;
    out.direct[R - 1][N - 1] = micro_tile<V, MR, R, N, A::strided, B::full>;
    out.edge[R - 1][N - 1] = micro_tile<V, MR, R, N, A::strided, B::edge>;
  };
  const auto row = [&]<int R>() {
    column.template operator()<R, 1>();
    if constexpr (Vectors > 1) column.template operator()<R, 2>();
    if constexpr (Vectors > 2) column.template operator()<R, 3>();
  };
  row.template operator()<1>();
  row.template operator()<2>();
  row.template operator()<3>();
  row.template operator()<4>();
  if constexpr (MR > 4) row.template operator()<5>();
  if constexpr (MR > 5) row.template operator()<6>();
  if constexpr (MR > 6) row.template operator()<7>();
  if constexpr (MR > 7) row.template operator()<8>();
  return out;
}

}  // namespace tessera::cpu
