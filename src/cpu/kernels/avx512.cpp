// AVX-512 kernels (F, BW, DQ, VL). Called only where the CPU has them.
#if defined(__x86_64__)
#include "cpu/scheduled_tile_avx512.hpp"
#include "cpu/vector_avx512.hpp"
#include "cpu/vector_portable.hpp"

namespace tessera::cpu {

namespace {

/// Half of an F32, for up to eight columns: some CPUs execute two of these multiply-adds per cycle,
/// but only one of 512 bits.
struct HalfF32 : LanesX86<float, 32> {
  static type splat(float x) { return _mm256_set1_ps(x); }
  static __mmask8 first(int n) { return static_cast<__mmask8>((1u << n) - 1); }
  static type load_first(const float* p, __mmask8 m) {
    const __m256i all = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_permutexvar_ps(_mm256_maskz_mov_epi32(m, all), _mm256_maskz_loadu_ps(m, p));
  }
  static type fma(type a, type b, type c) { return _mm256_fmadd_ps(a, b, c); }
  static type fms(type a, type b, type c) { return _mm256_fmsub_ps(a, b, c); }
  static void store_first(float* p, __mmask8 m, type x) { _mm256_mask_storeu_ps(p, m, x); }
  static void stream(float* p, type x) { _mm256_stream_ps(p, x); }
};

/// Pairs of i16: vpmaddwd.
struct Pairs : KGroups<I32> {
  static constexpr int group = 2;
  static type step(operand x, operand row, type acc) {
    return _mm512_add_epi32(acc, _mm512_madd_epi16(x, row));
  }
};

struct Set {
  using F32 = Plain<cpu::F32>;
  using F64 = Plain<cpu::F64>;
  using Pairs = cpu::Pairs;
  using Half = ConvertF16;
  using Brain = ConvertBf16;
  static constexpr int rows = 8, vectors = 3, pairs_rows = 8, pairs_vectors = 3;
  static constexpr const char* pairs_isa = "avx512";
};

using H = Plain<HalfF32>;

/// The table of F: also with wide, tall and scheduled micro-tiles.
template <class F>
constexpr auto make_f_kernels(Pack<typename F::sum, typename F::sum> pack_a) {
  return with_scheduled_tile<F>(with_tall_tiles<F>(
      with_wide_tiles<F, 6>(make_kernels<F, Set::rows, Set::vectors, typename F::sum>(
          "avx512", pack_a, pack_panels<F>))));
}

constexpr KernelSet make_set() {
  auto out = make_kernel_set<Set>(make_f_kernels<Set::F32>(pack_panels<H>),
                                  make_f_kernels<Set::F64>(pack_panels<Set::F64>));
#if !defined(TESSERA_ONLY_DEMO)
  out.f16 = with_scheduled_tile<Set::F32>(out.f16);
  out.bf16 = with_scheduled_tile<Set::F32>(out.bf16);
#endif
  return out;
}

}  // namespace

#if !defined(TESSERA_ONLY_DEMO)
constexpr KernelsF32 kAvx512Narrow =
    with_tall_tiles<H>(make_kernels<H, 8, 1, float>("avx512", pack_panels<H>, pack_panels<H>));
#endif

constexpr KernelSet kAvx512 = make_set();

}  // namespace tessera::cpu
#endif
