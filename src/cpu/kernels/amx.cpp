// Intel AMX: the tile unit, which multiplies 16 x 16 x 16 K-groups at once: pairs of bf16 or f16
// into f32, four bytes into i32. It rounds as Intel SDM vol. 2, TDPBF16PS, and the Instruction Set
// Extensions reference, TDPFP16PS, say: even and odd elements of a tile are summed apart, subnormal
// results are zero. Called only where the CPU has it and the system lets this process use it.
//
// The instructions are written out: the intrinsics of GCC 12 want literal numbers of tiles, and
// neither it nor the assembler of Clang 14 knows TDPFP16PS.
#if defined(__x86_64__)
#include "cpu/tile_kernel.hpp"
#include "cpu/vector_avx512.hpp"

namespace tessera::cpu {

namespace {

/// What is multiplied; of bytes, those of A and of B are signed or unsigned.
enum class Dot : char {
  bf16,
  f16,
  signed_signed,
  unsigned_unsigned,
  unsigned_signed,
  signed_unsigned
};

template <Dot kDot>
struct Amx {
  static void configure(const TileConfig& config) { asm volatile("ldtilecfg %0" ::"m"(config)); }
  static void release() { asm volatile("tilerelease"); }
  template <int T>
  static void zero() {
    asm volatile("tilezero %%tmm%c0" ::"n"(T));
  }
  template <int T>
  static void load(const void* p, index_t step) {
    asm volatile("tileloadd (%0,%1), %%tmm%c2" ::"r"(p), "r"(step), "n"(T) : "memory");
  }
  template <int T>
  static void load_once(const void* p, index_t step) {
    asm volatile("tileloaddt1 (%0,%1), %%tmm%c2" ::"r"(p), "r"(step), "n"(T) : "memory");
  }
  template <int T>
  static void store(void* p, index_t step) {
    asm volatile("tilestored %%tmm%c2, (%0,%1)" ::"r"(p), "r"(step), "n"(T) : "memory");
  }
  template <int C, int A, int B>
  static void dot() {
#define TESSERA_DOT(instruction) \
  asm volatile(instruction " %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"n"(C), "n"(A), "n"(B))
    if constexpr (kDot == Dot::bf16) TESSERA_DOT("tdpbf16ps");
    else if constexpr (kDot == Dot::signed_signed) TESSERA_DOT("tdpbssd");
    else if constexpr (kDot == Dot::unsigned_unsigned) TESSERA_DOT("tdpbuud");
    else if constexpr (kDot == Dot::unsigned_signed) TESSERA_DOT("tdpbusd");
    else if constexpr (kDot == Dot::signed_unsigned) TESSERA_DOT("tdpbsud");
    else  // TDPFP16PS: VEX.128.F2.0F38.W0 5C 11:C:A, vvvv = B
      asm volatile(".byte 0xc4, 0xe2, %c0, 0x5c, %c1" ::"n"((~B & 15) << 3 | 3),
                   "n"(0xC0 | C << 3 | A));
#undef TESSERA_DOT
  }
};

struct Pairs : KGroups<F32> {
  static constexpr int group = 2;
};
struct Quads : KGroups<I32> {
  static constexpr int group = 4;
};

template <Dot kDot, class Source>
constexpr auto quads_kernels() {
  return make_tile_kernels<Amx<kDot>, Quads, Unconverted<Source>>("amx");
}

}  // namespace

constexpr KernelsBf16Pairs kAmxBf16 =
    make_tile_kernels<Amx<Dot::bf16>, Pairs, Unconverted<BrainBits>>("amx");
constexpr KernelsF16Pairs kAmxF16 =
    make_tile_kernels<Amx<Dot::f16>, Pairs, Unconverted<HalfBits>>("amx");
constexpr ByteKernels kAmxBytes = {quads_kernels<Dot::signed_signed, std::int8_t>(),
                                   quads_kernels<Dot::unsigned_unsigned, std::uint8_t>(),
                                   quads_kernels<Dot::unsigned_signed, std::uint8_t>(),
                                   quads_kernels<Dot::signed_unsigned, std::uint8_t>()};

}  // namespace tessera::cpu
#endif
