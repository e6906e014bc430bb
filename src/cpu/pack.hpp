// The packing routines, written once for every instruction set: from a matrix with any strides to
// the panels that microkernels read. V is a vector type as microkernel.hpp describes it. What a
// panel is: see Pack in kernels.hpp. Measurements: bench/results/cpu/tuning.md.
#pragma once

#include "kernels.hpp"

namespace tessera::cpu {

[[gnu::always_inline]] inline index_t lesser(index_t a, index_t b) { return a < b ? a : b; }

/// Calls body(begin) for blocks of `side` that cover `count`, which is at least `side`: the last
/// one overlaps the one before it.
template <class Body>
[[gnu::always_inline]] inline void by_blocks(index_t count, index_t side, Body&& body) {
  index_t begin = 0;
  for (; begin + side <= count; begin += side) body(begin);
  if (begin < count) body(count - side);
}

/// Transposes in registers half as many K-groups as V has lanes, of as many lines as lanes: lines i
/// and i + lanes / 4 of each half are both(half, i).
template <class V, class Operand, int Half, class Both>
[[gnu::always_inline]] inline void transpose_registers(Operand (&column)[Half], const Both& both) {
  decltype(both(0, 0)) pairs[Half];
  TESSERA_UNROLL
  for (int i = 0; i < Half; ++i) pairs[i] = both(i / (Half / 2), i % (Half / 2));
  V::transpose_registers(pairs, column);
}
/// The same of a lower and an upper half of lines, `line` bytes apart each.
template <class V, class Operand, int Half>
[[gnu::always_inline]] inline void transpose_registers(const void* lower, const void* upper,
                                                       index_t line, Operand (&column)[Half]) {
  const char* const begin[2] = {static_cast<const char*>(lower), static_cast<const char*>(upper)};
  transpose_registers<V>(column, [&](int h, int i) {
    const char* const p = begin[h] + i * line;
    return V::both(p, p + Half / 2 * line);
  });
}

/// dst[k * width + i] = src[i * s_line + k] for i < lines and k < K.
template <class V>
void transpose_lines(typename V::k_group* dst, index_t width, const typename V::k_group* src,
                     int lines, index_t K, index_t s_line) {
  using T = typename V::k_group;
  // Whole vectors along a line, and one group of lines after the other.
  constexpr int half = V::lanes / 2;
  if constexpr (requires { V::store(dst, V::halves(src, src)); }) {
    if (lines >= V::lanes && K >= half) {
      return by_blocks(lines, V::lanes, [&](index_t i) {
        by_blocks(K, half, [&](index_t k) {
          typename V::type column[half];
          const T* from = src + i * s_line + k;
          transpose_registers<V>(from, from + half * s_line, s_line * index_t{sizeof(T)}, column);
          TESSERA_UNROLL
          for (int n = 0; n < half; ++n) V::store(dst + (k + n) * width + i, column[n]);
        });
      });
    }
  }
  const auto in_squares = [&](index_t side, auto transpose) {
    constexpr index_t run = 128;  // along a line, so that few lines are read at once
    for (index_t k = 0; k < K; k += run) {
      const index_t begin = K - k < side ? K - side : k, count = K - begin < run ? K - begin : run;
      by_blocks(lines, side, [&](index_t i) {
        by_blocks(count, side, [&](index_t at) {
          transpose(dst + (begin + at) * width + i, width, src + i * s_line + begin + at,
                    s_line * index_t{sizeof(T)});
        });
      });
    }
  };
  constexpr int side = V::transposed;
  if (side > 0 && lines >= side && K >= side) return in_squares(side, V::transpose);
  if constexpr (requires { V::transpose_half(dst, width, src, s_line); }) {
    if (lines >= side / 2 && K >= side / 2) return in_squares(side / 2, V::transpose_half);
  }
  for (int i = 0; i < lines; ++i) {
    for (index_t k = 0; k < K; ++k) dst[k * width + i] = src[i * s_line + k];
  }
}

/// One panel of up to `width` lines, in any order of strides.
template <class V>
void pack_panel(typename V::k_group* dst, int width, const typename V::k_group* src, int lines,
                index_t K, index_t s_line, index_t s_k) {
  using T = typename V::k_group;
  for (index_t k = 0; lines < width && k < K; ++k) {
    if constexpr (requires(T * p) { V::keep(p, V::broadcast(p)); }) {
      if (width >= V::lanes) {  // existing lines that they overwrite are stored later
        const auto first = V::broadcast(src + k * s_k);
        for (int i = width; i > lines; i -= V::lanes)
          V::keep(dst + k * width + (i < V::lanes ? 0 : i - V::lanes), first);
        continue;
      }
    }
    for (int i = lines; i < width; ++i) dst[k * width + i] = src[k * s_k];
  }
  if (s_k == 1) return transpose_lines<V>(dst, width, src, lines, K, s_line);
  for (int i = 0; i < lines; ++i) {
    for (index_t k = 0; k < K; ++k) dst[k * width + i] = src[i * s_line + k * s_k];
  }
}

/// Where lines are adjacent in memory, whole rows of the source are copied across all panels at
/// once, as many rows at a time as the hardware prefetchers track. The next ones are prefetched at
/// the same time.
template <class V>
void copy_rows(typename V::k_group* dst, int width, const typename V::k_group* src, index_t lines,
               index_t K, index_t s_k) {
  using T = typename V::k_group;
  constexpr index_t rows = 8, line_width = 64 / static_cast<index_t>(sizeof(T));
  const auto part = V::first(width % V::lanes);
  for (index_t k = 0; k < K; k += rows) {
    const index_t k_end = k + rows < K ? k + rows : K;
    for (index_t line = 0; line < lines; line += width) {
      T* to = dst + line * K + k * width;
      const T* from = src + line + k * s_k;
      const index_t here = lines - line;
      if (line % line_width < width) {
        TESSERA_UNROLL
        for (int r = 0; r < rows; ++r) {
          for (int ahead = 0; ahead < width; ahead += line_width)
            __builtin_prefetch(from + (rows + r) * s_k + ahead);
        }
      }
      if (width == V::lanes && here >= width && k + rows <= K) {  // the most frequent: no loops
        TESSERA_UNROLL
        for (int r = 0; r < rows; ++r) V::store(to + r * V::lanes, V::load(from + r * s_k));
        continue;
      }
      for (index_t r = k; r < k_end; ++r, to += width, from += s_k) {
        int i = 0;
        if (here >= width) {
          for (; i + V::lanes <= width; i += V::lanes) V::store(to + i, V::load(from + i));
          if (i < width) V::store_first(to + i, part, V::load_first(from + i, part));
        } else {
          for (; i + V::lanes <= here; i += V::lanes) V::store(to + i, V::load(from + i));
          for (; i < width; ++i) to[i] = from[i < here ? i : 0];
        }
      }
    }
  }
}

/// See Pack, for K-groups that are elements.
template <class V>
void pack_panels(typename V::k_group* dst, int width, const typename V::k_group* src, index_t lines,
                 index_t K, index_t s_line, index_t s_k) {
  if (s_line == 1) return copy_rows<V>(dst, width, src, lines, K, s_k);
  for (index_t line = 0; line < lines; line += width, dst += width * K) {
    const index_t left = lines - line;
    pack_panel<V>(dst, width, src + line * s_line, left < width ? static_cast<int>(left) : width, K,
                  s_line, s_k);
  }
}

/// `count` converted elements, then the first again, up to `width`.
template <class V, class Convert>
void convert_line(float* dst, const typename Convert::source* src, int count, int width) {
  int i = 0;
  for (; i + V::lanes <= count; i += V::lanes) V::store(dst + i, Convert::load(src + i));
  for (; i < count; ++i) dst[i] = Convert::one(src[i]);
  for (; i < width; ++i) dst[i] = dst[0];
}

/// See Pack, for f16 or bf16 that become f32: Convert::load(p) converts V::lanes of them,
/// Convert::one a single one.
template <class V, class Convert>
void pack_converted(float* dst, int width, const typename Convert::source* src, index_t lines,
                    index_t K, index_t s_line, index_t s_k) {
  constexpr int chunk = 64;             // elements of each line at a time
  alignas(64) float block[64 * chunk];  // the lines of a panel, converted
  for (index_t line = 0; line < lines; line += width, src += width * s_line) {
    const int here = static_cast<int>(lesser(lines - line, width));
    for (index_t k = 0; k < K; k += chunk) {
      const int depth = static_cast<int>(lesser(K - k, chunk));
      if (s_line == 1) {
        for (int d = 0; d < depth; ++d)
          convert_line<V, Convert>(dst + d * width, src + (k + d) * s_k, here, width);
      } else if (s_k == 1) {
        for (int i = 0; i < here; ++i)
          convert_line<V, Convert>(block + i * chunk, src + i * s_line + k, depth, depth);
        pack_panel<V>(dst, width, block, here, depth, chunk, 1);
      } else {
        for (int d = 0; d < depth; ++d) {
          for (int i = 0; i < width; ++i)
            dst[d * width + i] = Convert::one(src[(i < here ? i : 0) * s_line + (k + d) * s_k]);
        }
      }
      dst += depth * width;
    }
  }
}

/// The width of panels: a multiple of a vector, half a vector, or neither.
enum class Fit : char { whole, half, part };

/// Adjacent lines, across all panels at once (two panels at a time where a vector has the K-groups
/// of two), because a cache line spans several panels.
template <class V, class G, Fit fit>
void pack_rows(typename V::k_group* dst, int width, const typename G::source* src, index_t lines,
               index_t K, index_t s_k, index_t panel) {
  constexpr index_t group = V::group, deep = 4;
  const index_t k_groups = (K + group - 1) / group, whole = K / group;
  const index_t together = fit == Fit::half ? V::lanes : width;
  for (index_t w = 0; w < k_groups; w += deep) {
    const bool is_deep = w + deep <= whole;
    for (index_t line = 0; line < lines; line += together) {
      for (index_t i = 0; i < together; i += V::lanes) {
        const index_t left = lines - line - i;
        const auto* from = src + line + i + w * group * s_k;
        auto* const to = dst + line * panel + w * width + i;
        const auto kept = V::first(static_cast<int>(lesser(together - i, V::lanes)));
        const auto keep = [&](index_t n, const auto& x) {
          if (fit == Fit::whole) return V::keep(to + n * width, x);
          if (fit == Fit::part) return V::keep_first(to + n * width, kept, x);
          V::keep_lower(to + n * width, x);
          if (left > width) V::keep_upper(to + (panel + n) * width, x);
        };
        if (left >= V::lanes && is_deep) {
          TESSERA_UNROLL
          for (index_t n = 0; n < deep; ++n) keep(n, G::rows(from + n * group * s_k, s_k));
          continue;
        }
        const auto here = V::first(static_cast<int>(left < 0 ? 0 : lesser(left, V::lanes)));
        for (index_t n = 0; n < lesser(deep, k_groups - w); ++n) {
          const auto count = static_cast<int>(lesser(group, K - (w + n) * group));
          keep(n, G::rows_part(from + n * group * s_k, s_k, here, count));
        }
      }
    }
  }
}

/// One panel of `here` lines whose elements are contiguous, at least a K-group of them: K-groups as
/// they are in memory, zeros for what is missing.
template <class V, class Source>
void pack_lines(typename V::k_group* dst, int width, const Source* src, int here, index_t K,
                index_t s_line) {
  using KGroup = typename V::k_group;
  constexpr index_t group = V::group;
  const index_t k_groups = (K + group - 1) / group, whole = K / group;
  for (index_t i = 0; here < width && i < k_groups * width; ++i) dst[i] = KGroup{};
  const auto k_group_at = [](const Source* p) {
    KGroup x;
    __builtin_memcpy(&x, p, sizeof x);
    return x;
  };
  constexpr int side = V::transposed;
  if (here >= side && whole >= side) {
    by_blocks(whole, side, [&](index_t k) {
      by_blocks(here, side, [&](index_t i) {
        V::transpose(dst + k * width + i, width, src + i * s_line + k * group,
                     s_line * index_t{sizeof(Source)});
      });
    });
  } else {
    for (int i = 0; i < here; ++i) {
      for (index_t w = 0; w < whole; ++w)
        dst[w * width + i] = k_group_at(src + i * s_line + w * group);
    }
  }
  // The last elements are loaded as the upper ones of a K-group that ends with the line.
  static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
  const int missing = static_cast<int>(k_groups * group - K) * 8 * static_cast<int>(sizeof(Source));
  for (int i = 0; missing > 0 && i < here; ++i)
    dst[whole * width + i] = k_group_at(src + i * s_line + K - group) >> missing;
}

/// See Pack, for K-groups of several elements, bytes or 16 bits; `Extra` K-groups of a line are
/// between panels. G defines how K-groups are made: G::k_group(elements) from single elements; if
/// G::unconverted, they are what is in memory, or, if G::maps, G::mapped(K-groups) of it; if
/// G::rows_together, G::rows(p, s_k) of V::lanes lines side by side, and G::rows_part(p, s_k, mask,
/// count) of the first of them and the first `count` elements of each.
template <class V, class G, int Extra = 0>
void pack_groups(typename V::k_group* dst, int width, const typename G::source* src, index_t lines,
                 index_t K, index_t s_line, index_t s_k) {
  using KGroup = typename V::k_group;
  using Source = typename G::source;
  constexpr int group = V::group;
  const index_t k_groups = (K + group - 1) / group, whole = K / group, panel = k_groups + Extra;
  if constexpr (G::rows_together) {
    if (s_line == 1) {
      if (width % V::lanes == 0)
        return pack_rows<V, G, Fit::whole>(dst, width, src, lines, K, s_k, panel);
      if (2 * width == V::lanes)
        return pack_rows<V, G, Fit::half>(dst, width, src, lines, K, s_k, panel);
      return pack_rows<V, G, Fit::part>(dst, width, src, lines, K, s_k, panel);
    }
  }
  const Source nothing[group]{};
  for (index_t first = 0; first < lines; first += width, dst += width * panel) {
    const int here = static_cast<int>(lesser(width, lines - first));
    const Source* from = src + first * s_line;
    if constexpr (G::unconverted) {
      if (s_k == 1 && K >= group) {
        pack_lines<V>(dst, width, from, here, K, s_line);
        // In a second pass: reading K-groups just stored by partial vectors would stall on store
        // forwarding.
        if constexpr (G::maps) {
          for (index_t i = 0; i < k_groups * width; i += V::lanes) {
            const auto mask = V::first(static_cast<int>(lesser(V::lanes, k_groups * width - i)));
            V::keep_first(dst + i, mask, G::mapped(V::load_operand_first(dst + i, mask)));
          }
        }
        continue;
      }
    }
    for (int i = 0; i < here; ++i) {
      const Source* line = from + i * s_line;
      KGroup* to = dst + i;
      Source part[group]{};
      for (index_t w = 0; w < k_groups; ++w, to += width, line += group * s_k) {
        for (index_t g = 0; g < group; ++g)
          part[g] = w < whole || g < K % group ? line[g * s_k] : Source{};
        *to = G::k_group(part);
      }
    }
    for (index_t w = 0; here < width && w < k_groups; ++w) {
      for (int i = here; i < width; ++i) dst[w * width + i] = G::k_group(nothing);
    }
  }
}

}  // namespace tessera::cpu
