// Makes a table of kernels from a vector type (see microkernel.hpp). Each kernels/<isa> file calls
// it. Also the epilogue and the rounding to 16 bits, which need little more than the vectors.
// Measurements: bench/results/cpu/tuning.md.
#pragma once

#include <utility>

#include "axpy.hpp"
#include "chains.hpp"
#include "complex_kernels.hpp"
#include "dots.hpp"
#include "lane_tiles.hpp"
#include "microkernel.hpp"
#include "pack.hpp"
#include "strips.hpp"
#include "substitution.hpp"

namespace tessera::cpu {

/// Plain loops that the compiler vectorizes. A template on V, so that its code is not shared with
/// files for other instruction sets.
template <class V, class T = typename V::sum>
void finish_last(T* c, int count, const LastStep<T>& last) {
  const auto each_one = [&](auto&& change) {
    for (int j = 0; j < count; ++j) c[j] = change(c[j]);
  };
  switch (last.activation) {
    case Activation::none: break;
    case Activation::relu: each_one([](T x) { return activate(Activation::relu, x); }); break;
    case Activation::gelu: each_one([](T x) { return activate(Activation::gelu, x); }); break;
    case Activation::silu: each_one([](T x) { return activate(Activation::silu, x); }); break;
  }
  const T low = last.low, high = last.high;
  if (low != kLeast<T> || high != kMost<T>) each_one([=](T x) { return clamp(x, low, high); });
}

template <class V>
void finish_rows(const typename V::sum* tile, index_t tile_row, int rows, int cols,
                 typename V::sum* c, index_t c_row, const FinishRow<typename V::sum>& how) {
  using T = typename V::sum;
  const auto one = V::splat(T{1});
  const auto alpha = V::splat(how.alpha), beta = V::splat(how.beta);
  const bool scales = how.alpha != T{1}, adds = how.beta != T{0};
  const T *const row_bias = how.row_bias, *const column_bias = how.column_bias;
  // Where rows are close together, a partial vector reaches into the next row, and its load would
  // wait for the store of the previous row.
  const auto finish = [&]<int Rows, bool OnlyAdds>(int first) {
    for (int j = 0; j < cols; j += V::lanes) {
      const int left = cols - j;
      const bool whole = left >= V::lanes;
      const auto mask = V::first(whole ? V::lanes : left);
      const auto load = [&](const T* from) {
        return whole ? V::load(from) : V::load_first(from, mask);
      };
      typename V::type value[Rows];
      TESSERA_UNROLL
      for (int i = 0; i < Rows; ++i) {
        const int r = first + i;
        value[i] = load(tile + r * tile_row + j);
        if (!OnlyAdds && scales) value[i] = V::mul(alpha, value[i]);
        if (OnlyAdds || adds) value[i] = V::fma(beta, load(c + r * c_row + j), value[i]);
        if (OnlyAdds) continue;
        if (row_bias != nullptr) value[i] = V::fma(one, V::splat(row_bias[r]), value[i]);
        if (column_bias != nullptr) value[i] = V::fma(one, load(column_bias + j), value[i]);
      }
      TESSERA_UNROLL
      for (int i = 0; i < Rows; ++i) {
        T* to = c + (first + i) * c_row + j;
        if (whole) V::store(to, value[i]);
        else V::store_first(to, mask, value[i]);
      }
    }
  };
  const bool only_adds = adds && !scales && row_bias == nullptr && column_bias == nullptr;
  int r = 0;
  for (; r + 4 <= rows; r += 4) {
    if (only_adds) finish.template operator()<4, true>(r);
    else finish.template operator()<4, false>(r);
  }
  for (; r < rows; ++r) finish.template operator()<1, false>(r);
  for (r = 0; r < rows && !how.last.changes_nothing(); ++r)
    finish_last<V>(c + r * c_row, cols, how.last);
}

/// See Kernels::narrow: Convert::store rounds V::lanes of them, Convert::narrowed a single one.
template <class V, class Convert>
void narrow(typename Convert::source* dst, const float* src, int count) {
  int i = 0;
  for (; i + V::lanes <= count; i += V::lanes) Convert::store(dst + i, V::load(src + i));
  for (; i < count; ++i) dst[i] = Convert::narrowed(src[i]);
}

/// See Kernels::to_f32: a plain loop, as in finish_last.
template <class V>
void to_f32(float* dst, const typename V::sum* src, int count) {
  for (int i = 0; i < count; ++i) dst[i] = static_cast<float>(src[i]);
}

/// The whole table of one vector type: every micro-tile up to MR rows and `Vectors` vectors.
/// Over 60 lines: a table, one case or field a line.
template <class V, int MR, int Vectors, class Source>
constexpr Kernels<Source, typename V::k_group, typename V::sum> make_kernels(
    const char* isa, Pack<Source, typename V::k_group> pack_a,
    Pack<Source, typename V::k_group> pack_b) {
  Kernels<Source, typename V::k_group, typename V::sum> out{};
  out.isa = isa;
  out.rows = MR, out.lanes = V::lanes, out.vectors = Vectors;
  out.group = V::group;
  out.pack_a = pack_a, out.pack_b = pack_b;
  out.finish = finish_rows<V>, out.finishes = true;
  if constexpr (std::is_integral_v<typename V::sum>) out.to_f32 = to_f32<V>;
#if defined(__FMA__) || defined(__aarch64__)
  if constexpr (std::is_floating_point_v<Source>) out.chains = chains<V>;
#endif
  if constexpr (std::is_floating_point_v<Source> && requires { &V::fma_first; })
    out.lane_sums = lane_sums<V, MR * Vectors>;
  if constexpr (std::is_floating_point_v<Source>) out.substitute = substitute<V>;
  const auto tile = [&]<int R, int N>() {
    out.packed[R - 1][N - 1] = micro_tile<V, MR, R, N, A::packed, B::full>;
    if constexpr (V::group * sizeof(Source) == sizeof(typename V::k_group)) {
      out.direct[R - 1][N - 1] = micro_tile<V, 0, R, N, A::strided, B::full>;
      out.fused_packing[R - 1][N - 1] = micro_tile<V, MR, R, N, A::packed, B::copied>;
    }
    if constexpr (sizeof(Source) == sizeof(typename V::k_group)) {
      out.no_prefetch[0][R - 1][N - 1] = micro_tile<V, 0, R, N, A::strided, B::no_prefetch>;
      out.no_prefetch[1][R - 1][N - 1] =
          micro_tile<V, 0, R, N, A::strided, B::no_prefetch, End::finish>;
      out.masked[0][R - 1][N - 1] = micro_tile<V, 0, R, N, A::strided, B::masked>;
      out.masked[1][R - 1][N - 1] = micro_tile<V, 0, R, N, A::strided, B::masked, End::finish>;
    }
  };
  if constexpr (V::group * sizeof(Source) == sizeof(typename V::k_group)) {
    using Table = Kernels<Source, typename V::k_group, typename V::sum>;
    const auto axpy = [&]<int I>() {
      if constexpr (Table::kAxpyRows[I] <= MR * Vectors)  // as many sums as in a micro-tile
        out.axpy[I] = tessera::cpu::axpy<V, Table::kAxpyRows[I]>, out.axpys = I + 1;
    };
    const auto axpys = [&]<int... I>(std::integer_sequence<int, I...>) {
      (axpy.template operator()<I>(), ...);
    };
    axpys(std::make_integer_sequence<int, Table::kAxpys>());
    const auto lines = [&]<int... R>(std::integer_sequence<int, R...>) {
      ((out.dots[R] = tessera::cpu::dots<V, R + 1>), ...);
    };
    lines(std::make_integer_sequence<int, MR>());
    out.dot_rows = MR;
  }
  if constexpr (sizeof(Source) == sizeof(typename V::k_group)) {
    const auto strips = [&]<int... R>(std::integer_sequence<int, R...>) {
      ((out.strips[R] = tessera::cpu::strips<V, R + 1, MR * Vectors>), ...);
    };
    strips(std::make_integer_sequence<int, MR>());
    out.transpose = transpose_lines<V>;
  }
  const auto row = [&]<int R>() {
    tile.template operator()<R, 1>();
    if constexpr (Vectors > 1) tile.template operator()<R, 2>();
    if constexpr (Vectors > 2) tile.template operator()<R, 3>();
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

/// The same table with micro-tiles of up to Rows rows and the most vectors, for products of one
/// panel: fewer loads for each multiply-add.
template <class V, int Rows, class Table>
constexpr Table with_wide_tiles(Table table) {
  constexpr int most = Table::kMaxVectors;
  const auto tile = [&]<int R>() {
    table.direct[R - 1][most - 1] = micro_tile<V, 0, R, most, A::strided, B::full>;
    table.no_prefetch[0][R - 1][most - 1] = micro_tile<V, 0, R, most, A::strided, B::no_prefetch>;
    table.no_prefetch[1][R - 1][most - 1] =
        micro_tile<V, 0, R, most, A::strided, B::no_prefetch, End::finish>;
    table.masked[0][R - 1][most - 1] = micro_tile<V, 0, R, most, A::strided, B::masked>;
    table.masked[1][R - 1][most - 1] =
        micro_tile<V, 0, R, most, A::strided, B::masked, End::finish>;
    table.fused_packing[R - 1][most - 1] = micro_tile<V, 0, R, most, A::strided, B::copied>;
  };
  const auto tiles = [&]<int... R>(std::integer_sequence<int, R...>) {
    (tile.template operator()<R + 1>(), ...);
  };
  tiles(std::make_integer_sequence<int, Rows>());
  table.wide_rows = Rows;
  return table;
}

/// The same table with micro-tiles of one vector and up to 16 rows, for products of one panel.
template <class V, class Table>
constexpr Table with_tall_tiles(Table table) {
  const auto tile = [&]<int R>() {
    table.mr16[0][R - 1] = micro_tile<V, 0, R, 1, A::strided, B::no_prefetch>;
    table.mr16[1][R - 1] = micro_tile<V, 0, R, 1, A::strided, B::no_prefetch, End::finish>;
    table.masked_mr16[0][R - 1] = micro_tile<V, 0, R, 1, A::strided, B::masked>;
    table.masked_mr16[1][R - 1] = micro_tile<V, 0, R, 1, A::strided, B::masked, End::finish>;
  };
  const auto tiles = [&]<int... R>(std::integer_sequence<int, R...>) {
    (tile.template operator()<R + 1>(), ...);
  };
  tiles(std::make_integer_sequence<int, Table::kMr16>());
  return table;
}

/// The table of f16 or bf16 that are converted to f32 while they are packed.
template <class V, int MR, int Vectors, class Convert>
constexpr auto make_converted_kernels(const char* isa) {
  constexpr auto pack = pack_converted<V, Convert>;
  auto out = make_kernels<V, MR, Vectors, typename Convert::source>(isa, pack, pack);
  out.narrow = narrow<V, Convert>;
  return out;
}

}  // namespace tessera::cpu
