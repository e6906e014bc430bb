// Makes a table of kernels from a vector type (see microkernel.hpp). Each kernels/<isa> file calls
// it. Also the epilogue and the rounding to 16 bits, which need little more than the vectors.
// Measurements: bench/results/cpu/tuning.md.
#pragma once

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
  // Where rows are close together, a partial vector reaches into the next row, and its load would
  // wait for the store of the previous row.
  const auto finish = [&]<int Rows, bool IsWhole>(int first, int j, const auto& mask) {
    const auto offset = [](auto* bias, int by) { return bias == nullptr ? nullptr : bias + by; };
    FinishRow<typename V::sum> here = how;
    here.row_bias = offset(how.row_bias, first), here.column_bias = offset(how.column_bias, j);
    auto* const to = c + first * c_row + j;
    const auto* const from = tile + first * tile_row + j;
    typename V::type sums[Rows][1];
    each<Rows, 1>([&](int i, int) {
      const auto* at = from + i * tile_row;
      sums[i][0] = IsWhole ? V::load(at) : V::load_first(at, mask);
    });
    finish_sums<V, IsWhole>(sums, here, to, c_row, mask);
    each<Rows, 1>([&](int i, int) {
      IsWhole ? V::store(to + i * c_row, sums[i][0])
              : V::store_first(to + i * c_row, mask, sums[i][0]);
    });
  };
  const auto finish_row = [&]<int Rows>(int first) {
    int j = 0;
    for (; j + V::lanes <= cols; j += V::lanes)
      finish.template operator()<Rows, true>(first, j, V::first(V::lanes));
    if (j < cols) finish.template operator()<Rows, false>(first, j, V::first(cols - j));
  };
  int r = 0;
  for (; r + 4 <= rows; r += 4) finish_row.template operator()<4>(r);
  for (; r < rows; ++r) finish_row.template operator()<1>(r);
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

/// set(is_masked, ends, kernel) for the micro-tiles of R rows and N vectors that read elements in
/// place and do not prefetch.
template <class V, int R, int N, class Set>
constexpr void each_without_prefetch(const Set& set) {
  set(false, false, micro_tile<V, 0, R, N, A::strided, B::no_prefetch>);
  set(false, true, micro_tile<V, 0, R, N, A::strided, B::no_prefetch, End::finish>);
  set(true, false, micro_tile<V, 0, R, N, A::strided, B::masked>);
  set(true, true, micro_tile<V, 0, R, N, A::strided, B::masked, End::finish>);
}

/// The micro-tiles of R rows and N vectors but those of a packed A and B. Of MR = 0, those that
/// pack B take an A of any strides, too.
template <class V, int MR, int R, int N, class Table>
constexpr void set_tiles(Table& out) {
  using Source = typename Table::Source;
  if constexpr (V::group * sizeof(Source) == sizeof(typename V::k_group)) {
    constexpr A a = MR == 0 ? A::strided : A::packed;
    out.direct[R - 1][N - 1] = micro_tile<V, 0, R, N, A::strided, B::full>;
    out.fused_packing[R - 1][N - 1] = micro_tile<V, MR, R, N, a, B::copied>;
  }
  if constexpr (sizeof(Source) == sizeof(typename V::k_group)) {
    each_without_prefetch<V, R, N>([&](bool is_masked, bool ends, auto kernel) {
      (is_masked ? out.masked : out.no_prefetch)[ends][R - 1][N - 1] = kernel;
    });
  }
}

/// The whole table of one vector type: every micro-tile up to MR rows and `Vectors` vectors.
template <class V, int MR, int Vectors, class Source>
constexpr Kernels<Source, typename V::k_group, typename V::sum> make_kernels(
    const char* isa, Pack<Source, typename V::k_group> pack_a,
    Pack<Source, typename V::k_group> pack_b) {
  using Table = Kernels<Source, typename V::k_group, typename V::sum>;
  constexpr bool is_unconverted = V::group * sizeof(Source) == sizeof(typename V::k_group);
  constexpr bool is_one_element = sizeof(Source) == sizeof(typename V::k_group);
  Table out{};
  out.isa = isa;
  out.rows = MR, out.lanes = V::lanes, out.vectors = Vectors;
  out.group = V::group;
  out.pack_a = pack_a, out.pack_b = pack_b;
  out.finish = finish_rows<V>, out.finishes = true;
  if constexpr (std::is_integral_v<typename V::sum>) out.to_f32 = to_f32<V>;
  if constexpr (std::is_floating_point_v<Source>) {
#if defined(__FMA__) || defined(__aarch64__)
    out.chains = chains<V>;
#endif
    if constexpr (requires { &V::fma_first; }) out.lane_sums = lane_sums<V, MR * Vectors>;
    out.substitute = substitute<V>;
  }
  each_constant<MR>([&]<int R>() {
    each_constant<Vectors>([&]<int N>() {
      out.packed[R][N] = micro_tile<V, MR, R + 1, N + 1, A::packed, B::full>;
      set_tiles<V, MR, R + 1, N + 1>(out);
    });
    if constexpr (is_unconverted) out.dots[R] = dots<V, R + 1>, out.dot_rows = MR;
    if constexpr (is_one_element) out.strips[R] = strips<V, R + 1, MR * Vectors>;
  });
  each_constant<Table::kAxpys>([&]<int I>() {  // as many sums as in a micro-tile
    if constexpr (is_unconverted && Table::kAxpyRows[I] <= MR * Vectors)
      out.axpy[I] = axpy<V, Table::kAxpyRows[I]>, out.axpys = I + 1;
  });
  if constexpr (is_one_element) out.transpose = transpose_lines<V>;
  return out;
}

/// The same table with micro-tiles of up to Rows rows and the most vectors, for products of one
/// panel: fewer loads for each multiply-add.
template <class V, int Rows, class Table>
constexpr Table with_wide_tiles(Table table) {
  each_constant<Rows>([&]<int R>() { set_tiles<V, 0, R + 1, Table::kMaxVectors>(table); });
  table.wide_rows = Rows;
  return table;
}

/// The same table with micro-tiles of one vector and up to 16 rows, for products of one panel.
template <class V, class Table>
constexpr Table with_tall_tiles(Table table) {
  constexpr int most = Table::kMr16;
  each_constant<most>([&]<int R>() {
    each_without_prefetch<V, R + 1, 1>([&](bool is_masked, bool ends, auto kernel) {
      (is_masked ? table.masked_mr16 : table.mr16)[ends][R] = kernel;
    });
  });
  return table;
}

/// V with elements of B that are converted as they are read.
template <class V, class Convert>
struct Converted : V {
  using source = typename Convert::source;
  using type = typename V::type;
  struct First {
    decltype(V::first(0)) mask;
    int count;
    operator decltype(V::first(0))() const { return mask; }
  };
  static First first(int n) { return {V::first(n), n}; }
  static type gather(const source* p, index_t) { return Convert::load(p); }
  static type gather_first(const source* p, index_t, const First& lanes, int) {
    source part[V::lanes];
    for (int i = 0; i < V::lanes; ++i) part[i] = p[i < lanes.count ? i : 0];
    return Convert::load(part);
  }
  static constexpr auto pack = pack_converted<V, Convert>;
};
/// The same where Convert reads half a vector of each of two lines.
template <class V, class Convert>
struct ConvertedByTwo : Converted<V, Convert> {
  static typename V::type both(const void* p, const void* q) { return Convert::both(p, q); }
};

/// The table of f16 or bf16 that are converted to f32: while they are packed or, for few rows of A,
/// as they are read.
template <class V, int MR, int Vectors, class Convert>
constexpr auto make_converted_kernels(const char* isa) {
  using Rows =
      std::conditional_t<ReadsBoth<Convert>, ConvertedByTwo<V, Convert>, Converted<V, Convert>>;
  auto out = make_kernels<V, MR, Vectors, typename Convert::source>(isa, Rows::pack, Rows::pack);
  using Table = decltype(out);
  out.narrow = narrow<V, Convert>;
  if constexpr (Convert::in_vectors) {
    out.dot_rows = kConvertedRows;
    each_constant<kConvertedRows>([&]<int R>() { out.dots[R] = dots<Rows, R + 1>; });
    each_constant<Table::kAxpys>([&]<int I>() {
      if constexpr (Table::kAxpyRows[I] <= kConvertedRows)
        out.axpy[I] = axpy<Rows, Table::kAxpyRows[I]>, out.axpys = I + 1;
    });
  }
  return out;
}

}  // namespace tessera::cpu
