// The microkernel and the packing routines, written once for every instruction set. V is a vector
// type of one kernels_<isa> file, in an unnamed namespace there, so that no instruction of one set
// leaks into another:
//   V::sum, V::lanes, V::type       a vector of running sums
//   zero splat load load_first store store_first stream add mul fma relu      on them
//   V::word, V::group, V::operand   what is multiplied; group elements of K in one word
//   fetch fetch_first broadcast step(x, row, acc)                             on them
//   V::transposed, transpose        a square block that is transposed in registers; 0: none
//
// Register budget, MR x NR = 8 x 3 vectors: 24 sums + 3 of B + 1 broadcast of A = 28 of 32
// registers (AVX-512, NEON); 6 x 2 vectors: 12 + 2 + 1 of 16 (AVX2).
#pragma once

#include "kernels.hpp"

namespace tessera::cpu {

enum class A : bool { packed, strided };
enum class B : char { full, edge, passing };

/// A vector type whose words are its sums' own type: f32, f64.
template <class V>
struct Plain : V {
  using word = typename V::sum;
  using operand = typename V::type;
  static constexpr int group = 1, extra = 0;
  static operand fetch(const word* p) { return V::load(p); }
  template <class Mask>
  static operand fetch_first(const word* p, Mask m) {
    return V::load_first(p, m);
  }
  static typename V::type step(operand x, operand row, typename V::type acc) {
    return V::fma(x, row, acc);
  }
};

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
void micro_tile(const MicroTile<typename V::word, typename V::sum>& call) {
  using Word = typename V::word;
  using Sum = typename V::sum;
  typename V::type acc[Rows][Vectors];
  const int last = call.cols - V::lanes * (Vectors - 1);  // columns of the last vector
  const auto mask = V::first(last);
  if (call.resume) {
    each<Rows, Vectors>([&](int r, int v) {
      const Sum* from = call.c + r * call.c_row + v * V::lanes;
      acc[r][v] = v + 1 < Vectors ? V::load(from) : V::load_first(from, mask);
    });
  } else {
    each<Rows, Vectors>([&](int r, int v) { acc[r][v] = V::zero(); });
  }
  // Rows r of A at a[r / 3] + r % 3 strides: three pointers and two scaled indices reach all.
  const index_t a_row = PackedA == A::packed ? 1 : call.a_row;
  const index_t a_k = PackedA == A::packed ? MR : call.a_k;
  const Word* a[3] = {call.a, call.a + 3 * a_row, call.a + 6 * a_row};
  const Word* b = call.b;
  [[maybe_unused]] const index_t ahead = 12 * call.b_k;
  // The next micro-tile of C is fetched some steps before the end: fetched at the beginning, B
  // would have pushed it out of L1 again (2048^3: 2 % slower).
  index_t fetch_at = PackedA == A::packed && !call.stream ? 64 : 0;
  for (index_t k = call.K;;) {
    for (const index_t stop = k > fetch_at ? fetch_at : 0; k > stop; --k) {
      typename V::operand row[Vectors];
      if constexpr (EdgeB == B::passing) {
        TESSERA_UNROLL
        for (int v = 0; v < Vectors; ++v) __builtin_prefetch(b + ahead + v * V::lanes);
      }
      TESSERA_UNROLL
      for (int v = 0; v < Vectors; ++v) {
        row[v] = EdgeB == B::edge && v + 1 == Vectors ? V::fetch_first(b + v * V::lanes, mask)
                                                      : V::fetch(b + v * V::lanes);
      }
      TESSERA_UNROLL
      for (int r = 0; r < Rows; ++r) {
        const auto x = V::broadcast(PackedA == A::packed ? a[0] + r : a[r / 3] + (r % 3) * a_row);
        TESSERA_UNROLL
        for (int v = 0; v < Vectors; ++v) acc[r][v] = V::step(x, row[v], acc[r][v]);
      }
      a[0] += a_k;
      if (Rows > 3) a[1] += a_k;
      if (Rows > 6) a[2] += a_k;
      b += call.b_k;
    }
    if (PackedA != A::packed || k == 0) break;
    each<Rows, Vectors>(
        [&](int r, int v) { __builtin_prefetch(call.next_c + r * call.c_row + v * V::lanes, 1); });
    fetch_at = 0;
  }
  if constexpr (V::extra > 0) {  // the panels' last words: see Pack
    each<Rows, Vectors>([&](int r, int v) {
      acc[r][v] = V::add(acc[r][v], V::add(V::as_sums(V::broadcast(a[0] + r)),
                                           V::as_sums(V::fetch(b + v * V::lanes))));
    });
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

/// Rows of A times a long stretch of B, which passes by once: eight of its rows side by side, along
/// all of `cols` columns, then the next eight. c holds the sums in between.
template <class V, int Rows>
void sweep(const MicroTile<typename V::word, typename V::sum>& call) {
  constexpr int depth = 8;
  const auto pass = [&]<bool Whole>(index_t k, int deep) {
    typename V::operand x[Rows][depth];
    TESSERA_UNROLL
    for (int i = 0; i < depth; ++i) {
      TESSERA_UNROLL
      for (int r = 0; r < Rows; ++r)
        x[r][i] =
            V::broadcast(call.a + r * call.a_row + (k + (Whole || i < deep ? i : 0)) * call.a_k);
    }
    const bool resume = call.resume || k > 0;
    const auto* row = call.b + k * call.b_k;
    for (int j = 0; j < call.cols; j += V::lanes, row += V::lanes) {
      const bool whole = call.cols - j >= V::lanes;
      const auto mask = V::first(whole ? V::lanes : call.cols - j);
      typename V::type acc[Rows];
      TESSERA_UNROLL
      for (int r = 0; r < Rows; ++r) {
        auto* c = call.c + r * call.c_row + j;
        acc[r] = !resume ? V::zero() : whole ? V::load(c) : V::load_first(c, mask);
      }
      TESSERA_UNROLL
      for (int i = 0; i < depth; ++i) {
        if (!Whole && i >= deep) break;
        const auto* b = row + i * call.b_k;
        const auto y = whole ? V::fetch(b) : V::fetch_first(b, mask);
        TESSERA_UNROLL
        for (int r = 0; r < Rows; ++r) acc[r] = V::step(x[r][i], y, acc[r]);
      }
      TESSERA_UNROLL
      for (int r = 0; r < Rows; ++r) {
        auto* c = call.c + r * call.c_row + j;
        whole ? V::store(c, acc[r]) : V::store_first(c, mask, acc[r]);
      }
    }
  };
  index_t k = 0;
  for (; k + depth <= call.K; k += depth) pass.template operator()<true>(k, depth);
  if (k < call.K) pass.template operator()<false>(k, static_cast<int>(call.K - k));
}

/// One panel of up to `width` lines, in any order of strides.
template <class V>
void pack_panel(typename V::word* dst, int width, const typename V::word* src, int lines, index_t K,
                index_t s_line, index_t s_k) {
  using T = typename V::word;
  index_t k = 0;
  if (s_k == 1 && lines == width && V::transposed > 0 && width % V::transposed == 0) {
    constexpr index_t run = 128;  // along a line, so that few lines are read side by side
    const index_t whole = K / V::transposed * V::transposed;
    for (; k < whole; k += run) {
      const index_t end = k + run < whole ? k + run : whole;
      for (int i = 0; i < width; i += V::transposed) {
        for (index_t at = k; at < end; at += V::transposed)
          V::transpose(dst + at * width + i, width, src + i * s_line + at,
                       s_line * index_t{sizeof(T)});
      }
    }
    k = whole;
  }
  for (; k < K; ++k) {
    T* to = dst + k * width;
    const T* from = src + k * s_k;
    int i = 0;
    for (; i < lines; ++i) to[i] = from[i * s_line];
    for (; i < width; ++i) to[i] = T{0};
  }
}

/// See Pack, for words that are elements. Lines that lie side by side are copied across all panels
/// at once: whole rows of the source, the way it lies in memory.
template <class V>
void pack_panels(typename V::word* dst, int width, const typename V::word* src, index_t lines,
                 index_t K, index_t s_line, index_t s_k) {
  using T = typename V::word;
  if (s_line == 1) {
    constexpr index_t rows = 8;  // of the source at a time: as many as the prefetchers follow
    const auto part = V::first((width - 1) % V::lanes + 1);
    for (index_t k = 0; k < K; k += rows) {
      const index_t k_end = k + rows < K ? k + rows : K;
      for (index_t line = 0; line < lines; line += width) {
        T* to = dst + line * K + k * width;
        const T* from = src + line + k * s_k;
        const index_t here = lines - line;
        for (index_t r = k; r < k_end; ++r, to += width, from += s_k) {
          int i = 0;
          if (here >= width) {
            // The next rows are fetched meanwhile: pieces as short as these are over before the
            // hardware has seen where they go.
            for (; i + V::lanes < width; i += V::lanes) {
              V::store(to + i, V::load(from + i));
            }
            V::store_first(to + i, part, V::load_first(from + i, part));
          } else {
            for (; i < width; ++i) to[i] = i < here ? from[i] : T{0};
          }
        }
      }
    }
    return;
  }
  for (index_t line = 0; line < lines; line += width, dst += width * K) {
    const index_t left = lines - line;
    pack_panel<V>(dst, width, src + line * s_line, left < width ? static_cast<int>(left) : width, K,
                  s_line, s_k);
  }
}

/// `count` converted elements, then zeros up to `width`.
template <class V, class Convert>
void convert_line(float* dst, const typename Convert::source* src, int count, int width) {
  int i = 0;
  for (; i + V::lanes <= count; i += V::lanes) V::store(dst + i, Convert::load(src + i));
  for (; i < count; ++i) dst[i] = Convert::one(src[i]);
  for (; i < width; ++i) dst[i] = 0.f;
}

/// See Pack, for f16 or bf16 that become f32: Convert::first(p, m) converts up to V::lanes of them,
/// Convert::one a single one.
template <class V, class Convert>
void pack_converted(float* dst, int width, const typename Convert::source* src, index_t lines,
                    index_t K, index_t s_line, index_t s_k) {
  constexpr int chunk = 64;            // elements of each line at a time
  alignas(64) float block[8 * chunk];  // 8 lines, converted
  for (index_t line = 0; line < lines; line += width, src += width * s_line) {
    const int here = lines - line < width ? static_cast<int>(lines - line) : width;
    for (index_t k = 0; k < K; k += chunk, dst += chunk * width) {
      const int depth = K - k < chunk ? static_cast<int>(K - k) : chunk;
      if (s_line == 1) {
        for (int d = 0; d < depth; ++d)
          convert_line<V, Convert>(dst + d * width, src + (k + d) * s_k, here, width);
      } else if (s_k == 1) {
        for (int i = 0; i < width; i += 8) {
          const int rows = here - i < 8 ? here - i : 8;
          for (int r = 0; r < rows; ++r)
            convert_line<V, Convert>(block + r * chunk, src + (i + r) * s_line + k, depth, depth);
          const int columns = width - i < 8 ? width - i : 8;
          for (int d = 0; d < depth; ++d) {
            float* to = dst + d * width + i;
            for (int r = 0; r < columns; ++r) to[r] = r < rows ? block[r * chunk + d] : 0.f;
          }
        }
      } else {
        for (int d = 0; d < depth; ++d) {
          for (int i = 0; i < width; ++i)
            dst[d * width + i] = i < here ? Convert::one(src[i * s_line + (k + d) * s_k]) : 0.f;
        }
      }
      if (depth < chunk) dst += (depth - chunk) * width;
    }
  }
}

/// See Pack, for words of several elements: Element is a byte or 16 bits. G knows how its words are
/// made: G::word(elements) of single elements; if G::as_it_lies, G::mapped(words) of words as they
/// lie in memory; if G::rows_together, G::rows(p, s_k) of V::lanes lines side by side. For extra
/// words, G::count(sum, words) and G::weighed(sum).
template <class V, class G>
void pack_groups(typename V::word* dst, int width, const typename G::source* src, index_t lines,
                 index_t K, index_t s_line, index_t s_k) {
  using Word = typename V::word;
  using Source = typename G::source;
  constexpr int group = V::group;
  const index_t words = (K + group - 1) / group, whole = K / group;
  const auto element = [&](index_t line, index_t k) {
    return line < lines && k < K ? src[line * s_line + k * s_k] : Source{};
  };
  for (index_t first = 0; first < lines; first += width) {
    const bool full = first + width <= lines;
    Word* to = dst;
    index_t w = 0;
    if constexpr (G::as_it_lies) {
      if (full && s_k == 1 && width % V::transposed == 0) {
        for (; w + V::transposed <= whole; w += V::transposed, to += V::transposed * width) {
          for (int i = 0; i < width; i += V::transposed) {
            V::transpose(to + i, width, src + (first + i) * s_line + w * group,
                         s_line * index_t{sizeof(Source)});
          }
          for (int i = 0; i < V::transposed * width; i += V::lanes)
            V::keep(to + i, G::mapped(V::fetch(to + i)));
        }
      }
    }
    if constexpr (G::rows_together) {
      if (full && s_line == 1 && width % V::lanes == 0) {
        for (; w < whole; ++w, to += width) {
          for (int i = 0; i < width; i += V::lanes)
            V::keep(to + i, G::rows(src + first + i + w * group * s_k, s_k));
        }
      }
    }
    for (; w < words; ++w, to += width) {
      for (int i = 0; i < width; ++i) {
        Source part[group];
        for (int g = 0; g < group; ++g) part[g] = element(first + i, w * group + g);
        to[i] = G::word(part);
      }
    }
    if constexpr (V::extra > 0) {
      for (int i = 0; i < width; i += V::lanes) {
        const auto mask = V::first(width - i < V::lanes ? width - i : V::lanes);
        auto extra = V::zero();
        for (index_t k = 0; k < words; ++k)
          extra = G::count(extra, V::fetch_first(dst + k * width + i, mask));
        V::store_first(reinterpret_cast<typename V::sum*>(to + i), mask, G::weighed(extra));
      }
    }
    dst += width * (words + V::extra);
  }
}

template <class V>
void finish_linear(const typename V::sum* tile, index_t tile_row, int rows, int cols,
                   typename V::sum* c, index_t c_row, const Linear<typename V::sum>& linear) {
  using T = typename V::sum;
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

/// See Kernels::narrow: Convert::store rounds V::lanes of them, Convert::narrowed a single one.
template <class V, class Convert>
void narrow(typename Convert::source* dst, const float* src, int count) {
  int i = 0;
  for (; i + V::lanes <= count; i += V::lanes) Convert::store(dst + i, V::load(src + i));
  for (; i < count; ++i) dst[i] = Convert::narrowed(src[i]);
}

/// The whole table of one vector type: every micro-tile up to MR rows and `Vectors` vectors.
template <class V, int MR, int Vectors, class Source>
constexpr Kernels<Source, typename V::word, typename V::sum> make_kernels(
    const char* isa, Pack<Source, typename V::word> pack_a, Pack<Source, typename V::word> pack_b,
    void (*narrow)(Source*, const typename V::sum*, int) = nullptr) {
  Kernels<Source, typename V::word, typename V::sum> out{};
  out.isa = isa;
  out.rows = MR, out.lanes = V::lanes, out.vectors = Vectors;
  out.group = V::group, out.extra = V::extra;
  out.pack_a = pack_a, out.pack_b = pack_b;
  out.finish = finish_linear<V>;
  out.narrow = narrow;
  const auto tile = [&]<int R, int N>() {
    out.packed[R - 1][N - 1] = micro_tile<V, MR, R, N, A::packed, B::full>;
    if constexpr (sizeof(Source) == sizeof(typename V::word)) {
      out.direct[R - 1][N - 1] = micro_tile<V, MR, R, N, A::strided, B::full>;
      out.edge[R - 1][N - 1] = micro_tile<V, MR, R, N, A::strided, B::edge>;
      out.passing[R - 1][N - 1] = micro_tile<V, MR, R, N, A::packed, B::passing>;
    }
  };
  if constexpr (sizeof(Source) == sizeof(typename V::word)) {
    out.sweep[0] = tessera::cpu::sweep<V, 1>;
    out.sweep[1] = tessera::cpu::sweep<V, 2>;
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

/// The table of f16 or bf16 that are converted to f32 while they are packed.
template <class V, int MR, int Vectors, class Convert>
constexpr auto make_converted_kernels(const char* isa) {
  constexpr auto pack = pack_converted<V, Convert>;
  return make_kernels<V, MR, Vectors, typename Convert::source>(isa, pack, pack,
                                                                narrow<V, Convert>);
}

}  // namespace tessera::cpu
