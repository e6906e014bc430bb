// What x86 vectors of f32 and f64 share, above all small transpositions with 256-bit shuffles, for
// packing. Each kernels/<isa>.cpp gets its own copy, compiled for its instruction set.
#pragma once

#include <immintrin.h>

#include "microkernel.hpp"

namespace tessera::cpu {

namespace {

/// dst[k * width + i] = word k of the line at src + i * line, for i, k < 8. Words of 32 bits;
/// `line` in bytes.
[[maybe_unused]] inline void transpose_8x8(void* to, index_t width, const void* from,
                                           index_t line) {
  auto* dst = static_cast<float*>(to);
  const auto* src = static_cast<const char*>(from);
  __m256 r[8], t[8];
  TESSERA_UNROLL
  for (int i = 0; i < 8; ++i)
    r[i] = _mm256_loadu_ps(reinterpret_cast<const float*>(src + i * line));
  TESSERA_UNROLL
  for (int i = 0; i < 8; i += 2) {
    t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
    t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
  }
  TESSERA_UNROLL
  for (int i = 0; i < 8; i += 4) {
    r[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
    r[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xEE);
    r[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
    r[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xEE);
  }
  TESSERA_UNROLL
  for (int i = 0; i < 4; ++i) {
    _mm256_storeu_ps(dst + i * width, _mm256_permute2f128_ps(r[i], r[i + 4], 0x20));
    _mm256_storeu_ps(dst + (i + 4) * width, _mm256_permute2f128_ps(r[i], r[i + 4], 0x31));
  }
}

/// The same for i, k < 4.
[[maybe_unused]] inline void transpose_4x4_words(void* to, index_t width, const void* from,
                                                 index_t line) {
  auto* dst = static_cast<float*>(to);
  const auto* src = static_cast<const char*>(from);
  __m128 r[4];
  TESSERA_UNROLL
  for (int i = 0; i < 4; ++i) r[i] = _mm_loadu_ps(reinterpret_cast<const float*>(src + i * line));
  _MM_TRANSPOSE4_PS(r[0], r[1], r[2], r[3]);
  TESSERA_UNROLL
  for (int i = 0; i < 4; ++i) _mm_storeu_ps(dst + i * width, r[i]);
}

/// The same for words of 64 bits and i, k < 4.
[[maybe_unused]] inline void transpose_4x4(void* to, index_t width, const void* from,
                                           index_t line) {
  auto* dst = static_cast<double*>(to);
  const auto* src = static_cast<const char*>(from);
  __m256d r[4], t[4];
  TESSERA_UNROLL
  for (int i = 0; i < 4; ++i)
    r[i] = _mm256_loadu_pd(reinterpret_cast<const double*>(src + i * line));
  TESSERA_UNROLL
  for (int i = 0; i < 4; i += 2) {
    t[i] = _mm256_unpacklo_pd(r[i], r[i + 1]);
    t[i + 1] = _mm256_unpackhi_pd(r[i], r[i + 1]);
  }
  TESSERA_UNROLL
  for (int i = 0; i < 2; ++i) {
    _mm256_storeu_pd(dst + i * width, _mm256_permute2f128_pd(t[i], t[i + 2], 0x20));
    _mm256_storeu_pd(dst + (i + 2) * width, _mm256_permute2f128_pd(t[i], t[i + 2], 0x31));
  }
}

template <class T, int Bytes>
struct LanesX86 : Lanes<T, Bytes> {
  static constexpr int transposed = sizeof(T) == 4 ? 8 : 4;
  static void keep_in_register(typename Lanes<T, Bytes>::type& x) { asm("" : "+v"(x)); }
  static void transpose(void* dst, index_t width, const void* src, index_t line) {
    if constexpr (sizeof(T) == 4) transpose_8x8(dst, width, src, line);
    else transpose_4x4(dst, width, src, line);
  }
  static void transpose_half(void* dst, index_t width, const void* src,
                             index_t line) requires(sizeof(T) == 4) {
    transpose_4x4_words(dst, width, src, line);
  }
};

}  // namespace

}  // namespace tessera::cpu
