// AVX512_BF16: vdpbf16ps multiplies pairs of bf16 and adds both products to an f32. It rounds and
// flushes subnormals as Intel SDM vol. 2, VDPBF16PS, says: not the bits of a chain of fused
// multiply-adds.
#if defined(__x86_64__)
#include "cpu/scheduled_tile_avx512.hpp"
#include "cpu/vector_avx512.hpp"

namespace tessera::cpu {

namespace {

struct Pairs : Gathered<KGroups<F32>, Unconverted<BrainBits>> {
  static constexpr int group = 2;
  static type step(operand x, operand row, type acc) {
    return _mm512_dpbf16_ps(acc, reinterpret_cast<__m512bh>(x), reinterpret_cast<__m512bh>(row));
  }
};

}  // namespace

constexpr KernelsBf16Pairs kAvx512Bf16 = with_scheduled_tile<Pairs>(
    make_kernels<Pairs, 8, 3, BrainBits>("avx512 bf16", pack_groups<Pairs, Unconverted<BrainBits>>,
                                         pack_groups<Pairs, Unconverted<BrainBits>>));

}  // namespace tessera::cpu
#endif
