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
};

struct AmxBf16 : Amx {
  template <int C, int A, int B>
  static void dot() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"n"(C), "n"(A), "n"(B));
  }
};
struct AmxF16 : Amx {
  template <int C, int A, int B>
  static void dot() {  // VEX.128.F2.0F38.W0 5C 11:C:A, vvvv = B
    asm volatile(".byte 0xc4, 0xe2, %c0, 0x5c, %c1" ::"n"((~B & 15) << 3 | 3),
                 "n"(0xC0 | C << 3 | A));
  }
};
struct AmxI8 : Amx {
  template <int C, int A, int B>
  static void dot() {
    asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"n"(C), "n"(A), "n"(B));
  }
};
struct AmxU8 : Amx {
  template <int C, int A, int B>
  static void dot() {
    asm volatile("tdpbuud %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"n"(C), "n"(A), "n"(B));
  }
};

struct AmxU8I8 : Amx {
  template <int C, int A, int B>
  static void dot() {
    asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"n"(C), "n"(A), "n"(B));
  }
};
struct AmxI8U8 : Amx {
  template <int C, int A, int B>
  static void dot() {
    asm volatile("tdpbsud %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"n"(C), "n"(A), "n"(B));
  }
};

struct Pairs : KGroups<F32> {
  static constexpr int group = 2;
};
struct Quads : KGroups<I32> {
  static constexpr int group = 4;
};

}  // namespace

constexpr KernelsBf16Pairs kAmxBf16 =
    make_tile_kernels<AmxBf16, Pairs, Unconverted<BrainBits>>("amx");
constexpr KernelsF16Pairs kAmxF16 = make_tile_kernels<AmxF16, Pairs, Unconverted<HalfBits>>("amx");
constexpr KernelsI8 kAmxI8 = make_tile_kernels<AmxI8, Quads, Unconverted<std::int8_t>>("amx");
constexpr KernelsU8 kAmxU8 = make_tile_kernels<AmxU8, Quads, Unconverted<std::uint8_t>>("amx");
constexpr KernelsBytes kAmxU8I8 =
    make_tile_kernels<AmxU8I8, Quads, Unconverted<std::uint8_t>>("amx");
constexpr KernelsBytes kAmxI8U8 =
    make_tile_kernels<AmxI8U8, Quads, Unconverted<std::uint8_t>>("amx");

}  // namespace tessera::cpu
#endif
