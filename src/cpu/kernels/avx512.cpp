// AVX-512 kernels (F, BW, DQ, VL). Called only where the CPU has them.
#if defined(__x86_64__)
#include "cpu/scheduled_tile_avx512.hpp"
#include "cpu/vector_avx512.hpp"
#include "cpu/vector_portable.hpp"

namespace tessera::cpu {

namespace {

/// Half of an F32, for up to eight columns: some CPUs execute two of these multiply-adds per cycle,
/// but only one of 512 bits.
struct HalfF32 {
  using sum = float;
  using type = __m256;
  static constexpr int lanes = 8, transposed = 8;
  static type zero() { return _mm256_setzero_ps(); }
  static type splat(float x) { return _mm256_set1_ps(x); }
  static __mmask8 first(int n) { return static_cast<__mmask8>((1u << n) - 1); }
  static type load(const float* p) { return _mm256_loadu_ps(p); }
  static type load_first(const float* p, __mmask8 m) {
    const __m256i all = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_permutexvar_ps(_mm256_maskz_mov_epi32(m, all), _mm256_maskz_loadu_ps(m, p));
  }
  static type broadcast(const float* p) { return _mm256_set1_ps(*p); }
  static type fma(type a, type b, type c) { return _mm256_fmadd_ps(a, b, c); }
  static type fms(type a, type b, type c) { return _mm256_fmsub_ps(a, b, c); }
  static type mul(type a, type b) { return _mm256_mul_ps(a, b); }
  static void store(float* p, type x) { _mm256_storeu_ps(p, x); }
  static void store_first(float* p, __mmask8 m, type x) { _mm256_mask_storeu_ps(p, m, x); }
  static void stream(float* p, type x) { _mm256_stream_ps(p, x); }
  static void transpose(void* dst, index_t width, const void* src, index_t line) {
    transpose_8x8(dst, width, src, line);
  }
  static void transpose_half(void* dst, index_t width, const void* src, index_t line) {
    transpose_4x4_words(dst, width, src, line);
  }
};

/// Pairs of i16: vpmaddwd.
struct Pairs : KGroups<I32> {
  static constexpr int group = 2;
  static type step(operand x, operand row, type acc) {
    return _mm512_add_epi32(acc, _mm512_madd_epi16(x, row));
  }
};

/// A of one type of bytes and B of another, or of the same.
template <class ElementOfA, class ElementOfB = ElementOfA>
constexpr auto integer_kernels() {
  using Source =
      std::conditional_t<std::is_same_v<ElementOfA, ElementOfB>, ElementOfA, std::uint8_t>;
  return make_kernels<Pairs, 8, 3, Source>("avx512",
                                           pack_groups<Pairs, PairsOf<Pairs, ElementOfA, Source>>,
                                           pack_groups<Pairs, PairsOf<Pairs, ElementOfB, Source>>);
}

using F = Plain<F32>;
using H = Plain<HalfF32>;
using D = Plain<F64>;

constexpr auto kF32 = with_scheduled_tile<F>(with_tall_tiles<F>(
    with_wide_tiles<F, 6>(make_kernels<F, 8, 3, float>("avx512", pack_panels<H>, pack_panels<F>))));
[[maybe_unused]] constexpr auto kF64 =
    with_scheduled_tile<D>(with_tall_tiles<D>(with_wide_tiles<D, 6>(
        make_kernels<D, 8, 3, double>("avx512", pack_panels<D>, pack_panels<D>))));

}  // namespace

constexpr KernelsF32 kAvx512Narrow =
    with_tall_tiles<H>(make_kernels<H, 8, 1, float>("avx512", pack_panels<H>, pack_panels<H>));

constexpr KernelSet kAvx512 = {
    kF32,
#if !defined(TESSERA_ONLY_DEMO)
    kF64,
    with_scheduled_tile<F>(make_converted_kernels<F, 8, 3, ConvertF16>("avx512")),
    with_scheduled_tile<F>(make_converted_kernels<F, 8, 3, ConvertBf16>("avx512")),
    integer_kernels<std::int8_t>(),
    integer_kernels<std::uint8_t>(),
    integer_kernels<std::uint8_t, std::int8_t>(),
    integer_kernels<std::int8_t, std::uint8_t>(),
    complex_kernels<F, D>(kF32),
    complex_kernels<D, D>(kF64)
#endif
};

}  // namespace tessera::cpu
#endif
