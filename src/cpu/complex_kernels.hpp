// The packing and the epilogue of complex products, and their table of kernels, which is otherwise
// that of the real ones. See complex_parts.hpp.
#pragma once

#include "kernels.hpp"
#include "pack.hpp"

namespace tessera::cpu {

/// See Pack: line 2 i + p is part p of complex line i. Adjacent complex lines are real lines, of
/// others both parts of an element are copied together, as elements of Both where that is as large.
template <class V, class Both, class R = typename V::sum>
void pack_parts(R* dst, int width, const ComplexPart<R>* from, index_t lines, index_t K,
                index_t s_line, index_t s_k) {
  const R* src = reinterpret_cast<const R*>(from);
  if (s_line == 1) return copy_rows<V>(dst, width, src, lines, K, s_k);
  using Element = typename Both::k_group;
  if constexpr (sizeof(Element) == 2 * sizeof(R)) {
    return pack_panels<Both>(reinterpret_cast<Element*>(dst), width / 2,
                             reinterpret_cast<const Element*>(src), lines / 2, K, s_line, s_k / 2);
  }
  constexpr index_t run = 64, together = 4;  // run: so that the part of the panel stays in L1
  for (index_t line = 0; line < lines; line += width, dst += width * K, src += width * s_line) {
    const index_t here = lesser(width, lines - line);
    for (index_t k = 0; k < K; k += run) {
      for (index_t i = 0; i < width; i += 2 * together) {
        const R* in[together];
        for (index_t d = 0; d < together; ++d)
          in[d] = src + (i + 2 * d < here ? i + 2 * d : 0) * s_line + k * s_k;
        R* out = dst + k * width + i;
        const auto copy = [&](index_t d) {
          __builtin_memcpy(out + 2 * d, in[d], 2 * sizeof(R));
          in[d] += s_k;
        };
        const index_t elements = (width - i) / 2;
        for (index_t n = lesser(run, K - k); n > 0; --n, out += width) {
          if (elements >= together) {
            TESSERA_UNROLL
            for (index_t d = 0; d < together; ++d) copy(d);
          } else {
            for (index_t d = 0; d < elements; ++d) copy(d);
          }
        }
      }
    }
  }
}

/// out = x * a + y * b for pairs of reals, with the parts of y exchanged; the factors differ
/// between the parts, those of x are 1 where `IsPlain`. Else a plain loop that the compiler
/// vectorizes. A template on V, so that its code is not shared with files for other instruction
/// sets.
template <class V, bool IsPlain = false, class R>
[[gnu::always_inline]] inline void add_exchanged(R* out, int cols, const R* x, R a0, R a1,
                                                 const R* y, R b0, R b1) {
  int j = 0;
  if constexpr (IsPlain && requires { &V::exchanged; }) {
    alignas(64) R signs[V::lanes];
    for (int i = 0; i < V::lanes; i += 2) signs[i] = b0, signs[i + 1] = b1;
    const auto b = V::load(signs);  // signs: the products are exact
    for (; j + V::lanes <= cols; j += V::lanes)
      V::store(out + j, V::fma(b, V::exchanged(V::load(y + j)), V::load(x + j)));
  }
  for (; j < cols; j += 2) {
    const R re = x[j] * a0 + y[j + 1] * b0, im = x[j + 1] * a1 + y[j] * b1;
    out[j] = re, out[j + 1] = im;
  }
}

/// x times a complex number. A real one only scales, so that it does not turn infinities into NaN.
template <class V, class R>
[[gnu::always_inline]] inline void scale_complex(R* out, int cols, const R* x, const R (&by)[2]) {
  if (by[1] != R{0}) return add_exchanged<V>(out, cols, x, by[0], by[0], x, -by[1], by[1]);
  for (int j = 0; j < cols; ++j) out[j] = x[j] * by[0];
}

/// See Kernels::combine.
template <class V, class R = typename V::sum>
void combine(const R* tile, index_t tile_row, int rows, int cols, R* __restrict c, index_t c_row,
             const Combination<R>& how) {
  constexpr int most = 64;
  alignas(64) R sums[most], scaled[most], old[most];
  const bool both = how.conjugates_a && how.conjugates_b,
             one = how.conjugates_a != how.conjugates_b;
  const bool scales = how.alpha[0] != R{1} || how.alpha[1] != R{0}, adds = how.reads_c();
  const R ri = how.conjugates_b && !both ? R{-1} : R{1}, ii = one ? R{1} : R{-1},
          ir = how.conjugates_a ? R{-1} : R{1};
  for (int i = 0; i < rows; i += 2, tile += 2 * tile_row, c += c_row) {
    const R* re = tile;  // sums with real parts of A; those with imaginary parts follow
    if (both) {          // subtracted from 0, so that the conjugate of a zero is +0
      for (int j = 0; j < cols; j += 2) old[j] = re[j], old[j + 1] = R{0} - re[j + 1];
      re = old;
    }
    const R* im = tile + tile_row;
    R* const to = scales || adds ? sums : c;
    if (ri == R{1}) add_exchanged<V, true>(to, cols, re, R{1}, ri, im, ii, ir);
    else add_exchanged<V>(to, cols, re, R{1}, ri, im, ii, ir);
    if (!scales && !adds) continue;
    if (!adds) {
      scale_complex<V>(c, cols, sums, how.alpha);
      continue;
    }
    if (scales) scale_complex<V>(scaled, cols, sums, how.alpha);
    scale_complex<V>(old, cols, c, how.beta);
    const R* from = scales ? scaled : sums;
    for (int j = 0; j < cols; ++j) c[j] = from[j] + old[j];
  }
}

/// Both: a vector type of elements as large as a complex number, or any other.
template <class V, class Both, class R>
constexpr Kernels<ComplexPart<R>, R, R> complex_kernels(const Kernels<R, R, R>& real) {
  Kernels<ComplexPart<R>, R, R> out{};
  out.isa = real.isa;
  out.rows = real.rows, out.lanes = real.lanes, out.vectors = real.vectors, out.group = real.group;
  for (int i = 0; i < real.rows; ++i) {
    for (int j = 0; j < real.vectors; ++j) {
      out.packed[i][j] = real.packed[i][j];
      out.fused_packing[i][j] = real.fused_packing[i][j];
    }
  }
  for (int i = 0; i < real.axpys; ++i) out.axpy[i] = real.axpy[i];
  out.axpys = real.axpys;
  out.pack_a = out.pack_b = pack_parts<V, Both>;
  out.combine = combine<V>;
  return out;
}

}  // namespace tessera::cpu
