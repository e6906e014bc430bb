// Matrix instructions of a warpgroup in PTX (ISA 9.7.15): D (64,n) += A (64,k) * B (k,n), k of 32
// bytes, both operands in shared memory by their descriptors. One assembly template serves every n
// and type: operand lists grow by four registers for each eight columns.
#pragma once

#include <cstdint>

#include "tessera/core/dtype.hpp"

namespace tessera::detail {

// The registers of the sums as asm operands: numbers, then constraints. Operands 0 to 2 are the
// descriptors and whether to keep the sums. (Written "+" so that they come first, and the numbers
// of the sums are the same for every n.)
#define TESSERA_AT_8 "%3, %4, %5, %6"
#define TESSERA_AT_16 TESSERA_AT_8 ", %7, %8, %9, %10"
#define TESSERA_AT_24 TESSERA_AT_16 ", %11, %12, %13, %14"
#define TESSERA_AT_32 TESSERA_AT_24 ", %15, %16, %17, %18"
#define TESSERA_AT_40 TESSERA_AT_32 ", %19, %20, %21, %22"
#define TESSERA_AT_48 TESSERA_AT_40 ", %23, %24, %25, %26"
#define TESSERA_AT_56 TESSERA_AT_48 ", %27, %28, %29, %30"
#define TESSERA_AT_64 TESSERA_AT_56 ", %31, %32, %33, %34"
#define TESSERA_AT_72 TESSERA_AT_64 ", %35, %36, %37, %38"
#define TESSERA_AT_80 TESSERA_AT_72 ", %39, %40, %41, %42"
#define TESSERA_AT_88 TESSERA_AT_80 ", %43, %44, %45, %46"
#define TESSERA_AT_96 TESSERA_AT_88 ", %47, %48, %49, %50"
#define TESSERA_AT_104 TESSERA_AT_96 ", %51, %52, %53, %54"
#define TESSERA_AT_112 TESSERA_AT_104 ", %55, %56, %57, %58"
#define TESSERA_AT_120 TESSERA_AT_112 ", %59, %60, %61, %62"
#define TESSERA_AT_128 TESSERA_AT_120 ", %63, %64, %65, %66"
#define TESSERA_AT_136 TESSERA_AT_128 ", %67, %68, %69, %70"
#define TESSERA_AT_144 TESSERA_AT_136 ", %71, %72, %73, %74"
#define TESSERA_AT_152 TESSERA_AT_144 ", %75, %76, %77, %78"
#define TESSERA_AT_160 TESSERA_AT_152 ", %79, %80, %81, %82"
#define TESSERA_AT_168 TESSERA_AT_160 ", %83, %84, %85, %86"
#define TESSERA_AT_176 TESSERA_AT_168 ", %87, %88, %89, %90"
#define TESSERA_AT_184 TESSERA_AT_176 ", %91, %92, %93, %94"
#define TESSERA_AT_192 TESSERA_AT_184 ", %95, %96, %97, %98"
#define TESSERA_AT_200 TESSERA_AT_192 ", %99, %100, %101, %102"
#define TESSERA_AT_208 TESSERA_AT_200 ", %103, %104, %105, %106"
#define TESSERA_AT_216 TESSERA_AT_208 ", %107, %108, %109, %110"
#define TESSERA_AT_224 TESSERA_AT_216 ", %111, %112, %113, %114"
#define TESSERA_AT_232 TESSERA_AT_224 ", %115, %116, %117, %118"
#define TESSERA_AT_240 TESSERA_AT_232 ", %119, %120, %121, %122"
#define TESSERA_AT_248 TESSERA_AT_240 ", %123, %124, %125, %126"
#define TESSERA_AT_256 TESSERA_AT_248 ", %127, %128, %129, %130"
#define TESSERA_FOUR(c, i) c(d[i]), c(d[i + 1]), c(d[i + 2]), c(d[i + 3])
#define TESSERA_IN_8(c) TESSERA_FOUR(c, 0)
#define TESSERA_IN_16(c) TESSERA_IN_8(c), TESSERA_FOUR(c, 4)
#define TESSERA_IN_24(c) TESSERA_IN_16(c), TESSERA_FOUR(c, 8)
#define TESSERA_IN_32(c) TESSERA_IN_24(c), TESSERA_FOUR(c, 12)
#define TESSERA_IN_40(c) TESSERA_IN_32(c), TESSERA_FOUR(c, 16)
#define TESSERA_IN_48(c) TESSERA_IN_40(c), TESSERA_FOUR(c, 20)
#define TESSERA_IN_56(c) TESSERA_IN_48(c), TESSERA_FOUR(c, 24)
#define TESSERA_IN_64(c) TESSERA_IN_56(c), TESSERA_FOUR(c, 28)
#define TESSERA_IN_72(c) TESSERA_IN_64(c), TESSERA_FOUR(c, 32)
#define TESSERA_IN_80(c) TESSERA_IN_72(c), TESSERA_FOUR(c, 36)
#define TESSERA_IN_88(c) TESSERA_IN_80(c), TESSERA_FOUR(c, 40)
#define TESSERA_IN_96(c) TESSERA_IN_88(c), TESSERA_FOUR(c, 44)
#define TESSERA_IN_104(c) TESSERA_IN_96(c), TESSERA_FOUR(c, 48)
#define TESSERA_IN_112(c) TESSERA_IN_104(c), TESSERA_FOUR(c, 52)
#define TESSERA_IN_120(c) TESSERA_IN_112(c), TESSERA_FOUR(c, 56)
#define TESSERA_IN_128(c) TESSERA_IN_120(c), TESSERA_FOUR(c, 60)
#define TESSERA_IN_136(c) TESSERA_IN_128(c), TESSERA_FOUR(c, 64)
#define TESSERA_IN_144(c) TESSERA_IN_136(c), TESSERA_FOUR(c, 68)
#define TESSERA_IN_152(c) TESSERA_IN_144(c), TESSERA_FOUR(c, 72)
#define TESSERA_IN_160(c) TESSERA_IN_152(c), TESSERA_FOUR(c, 76)
#define TESSERA_IN_168(c) TESSERA_IN_160(c), TESSERA_FOUR(c, 80)
#define TESSERA_IN_176(c) TESSERA_IN_168(c), TESSERA_FOUR(c, 84)
#define TESSERA_IN_184(c) TESSERA_IN_176(c), TESSERA_FOUR(c, 88)
#define TESSERA_IN_192(c) TESSERA_IN_184(c), TESSERA_FOUR(c, 92)
#define TESSERA_IN_200(c) TESSERA_IN_192(c), TESSERA_FOUR(c, 96)
#define TESSERA_IN_208(c) TESSERA_IN_200(c), TESSERA_FOUR(c, 100)
#define TESSERA_IN_216(c) TESSERA_IN_208(c), TESSERA_FOUR(c, 104)
#define TESSERA_IN_224(c) TESSERA_IN_216(c), TESSERA_FOUR(c, 108)
#define TESSERA_IN_232(c) TESSERA_IN_224(c), TESSERA_FOUR(c, 112)
#define TESSERA_IN_240(c) TESSERA_IN_232(c), TESSERA_FOUR(c, 116)
#define TESSERA_IN_248(c) TESSERA_IN_240(c), TESSERA_FOUR(c, 120)
#define TESSERA_IN_256(c) TESSERA_IN_248(c), TESSERA_FOUR(c, 124)

// The position of the two immediates of 16-bit types.
#define TESSERA_MAJORS_8 "%7, %8"
#define TESSERA_MAJORS_16 "%11, %12"
#define TESSERA_MAJORS_24 "%15, %16"
#define TESSERA_MAJORS_32 "%19, %20"
#define TESSERA_MAJORS_40 "%23, %24"
#define TESSERA_MAJORS_48 "%27, %28"
#define TESSERA_MAJORS_56 "%31, %32"
#define TESSERA_MAJORS_64 "%35, %36"
#define TESSERA_MAJORS_72 "%39, %40"
#define TESSERA_MAJORS_80 "%43, %44"
#define TESSERA_MAJORS_88 "%47, %48"
#define TESSERA_MAJORS_96 "%51, %52"
#define TESSERA_MAJORS_104 "%55, %56"
#define TESSERA_MAJORS_112 "%59, %60"
#define TESSERA_MAJORS_120 "%63, %64"
#define TESSERA_MAJORS_128 "%67, %68"
#define TESSERA_MAJORS_136 "%71, %72"
#define TESSERA_MAJORS_144 "%75, %76"
#define TESSERA_MAJORS_152 "%79, %80"
#define TESSERA_MAJORS_160 "%83, %84"
#define TESSERA_MAJORS_168 "%87, %88"
#define TESSERA_MAJORS_176 "%91, %92"
#define TESSERA_MAJORS_184 "%95, %96"
#define TESSERA_MAJORS_192 "%99, %100"
#define TESSERA_MAJORS_200 "%103, %104"
#define TESSERA_MAJORS_208 "%107, %108"
#define TESSERA_MAJORS_216 "%111, %112"
#define TESSERA_MAJORS_224 "%115, %116"
#define TESSERA_MAJORS_232 "%119, %120"
#define TESSERA_MAJORS_240 "%123, %124"
#define TESSERA_MAJORS_248 "%127, %128"
#define TESSERA_MAJORS_256 "%131, %132"

// One instruction. `types`: as PTX writes the depth and the types; `constraint`: "+f" or "+r";
// `tail`: what follows the predicate; `...`: its immediates.
#define TESSERA_WGMMA(n, types, constraint, tail, ...)                                             \
  asm volatile(                                                                                    \
      "{\n.reg .pred keeps;\nsetp.ne.b32 keeps, %2, "                                              \
      "0;\nwgmma.mma_async.sync.aligned.m64n" #n types " {" TESSERA_AT_##n "}, %0, %1, keeps" tail \
                                                                           ";\n}"                  \
      : "+l"(a), "+l"(b), "+r"(keep), TESSERA_IN_##n(constraint)                                   \
      : __VA_ARGS__)

#define TESSERA_EACH_N(instruction)                                                                \
  instruction(8) instruction(16) instruction(24) instruction(32) instruction(40) instruction(48)   \
      instruction(56) instruction(64) instruction(72) instruction(80) instruction(88)              \
          instruction(96) instruction(104) instruction(112) instruction(120) instruction(128)      \
              instruction(136) instruction(144) instruction(152) instruction(160) instruction(168) \
                  instruction(176) instruction(184) instruction(192) instruction(200)              \
                      instruction(208) instruction(216) instruction(224) instruction(232)          \
                          instruction(240) instruction(248) instruction(256)

// The instruction of one pair of types for this n.
#define TESSERA_HALVES(n) \
  if constexpr (N == n)   \
    TESSERA_WGMMA(n, TESSERA_TYPES, "+f", ", 1, 1, " TESSERA_MAJORS_##n, "n"(A), "n"(B));
#define TESSERA_FLOATS(n) \
  if constexpr (N == n) TESSERA_WGMMA(n, TESSERA_TYPES, "+f", ", 1, 1", );
#define TESSERA_WHOLES(n) \
  if constexpr (N == n) TESSERA_WGMMA(n, TESSERA_TYPES, "+r", "", );

template <class InA, class InB, class X, class Y>
inline constexpr bool kAre = std::is_same_v<InA, X>&& std::is_same_v<InB, Y>;

/// A, B: 1 where that operand is MN-major, which only 16-bit types may be.
template <class InA, class InB, int N, int A, int B, class Acc>
__device__ __forceinline__ void wgmma(Acc (&d)[N / 2], std::uint64_t a, std::uint64_t b, int keep) {
  static_assert(N % 8 == 0 && N >= 8 && N <= 256, "n is a multiple of 8 up to 256");
  if constexpr (kAre<InA, InB, bf16, bf16>) {
#define TESSERA_TYPES "k16.f32.bf16.bf16"
    TESSERA_EACH_N(TESSERA_HALVES)
#undef TESSERA_TYPES
  } else if constexpr (kAre<InA, InB, f16, f16>) {
#define TESSERA_TYPES "k16.f32.f16.f16"
    TESSERA_EACH_N(TESSERA_HALVES)
#undef TESSERA_TYPES
  } else if constexpr (kAre<InA, InB, float, float>) {
#define TESSERA_TYPES "k8.f32.tf32.tf32"
    TESSERA_EACH_N(TESSERA_FLOATS)
#undef TESSERA_TYPES
  } else if constexpr (kAre<InA, InB, f8e4m3, f8e4m3>) {
#define TESSERA_TYPES "k32.f32.e4m3.e4m3"
    TESSERA_EACH_N(TESSERA_FLOATS)
#undef TESSERA_TYPES
  } else if constexpr (kAre<InA, InB, f8e4m3, f8e5m2>) {
#define TESSERA_TYPES "k32.f32.e4m3.e5m2"
    TESSERA_EACH_N(TESSERA_FLOATS)
#undef TESSERA_TYPES
  } else if constexpr (kAre<InA, InB, f8e5m2, f8e4m3>) {
#define TESSERA_TYPES "k32.f32.e5m2.e4m3"
    TESSERA_EACH_N(TESSERA_FLOATS)
#undef TESSERA_TYPES
  } else if constexpr (kAre<InA, InB, f8e5m2, f8e5m2>) {
#define TESSERA_TYPES "k32.f32.e5m2.e5m2"
    TESSERA_EACH_N(TESSERA_FLOATS)
#undef TESSERA_TYPES
  } else if constexpr (kAre<InA, InB, std::int8_t, std::int8_t>) {
#define TESSERA_TYPES "k32.s32.s8.s8"
    TESSERA_EACH_N(TESSERA_WHOLES)
#undef TESSERA_TYPES
  } else if constexpr (kAre<InA, InB, std::int8_t, std::uint8_t>) {
#define TESSERA_TYPES "k32.s32.s8.u8"
    TESSERA_EACH_N(TESSERA_WHOLES)
#undef TESSERA_TYPES
  } else if constexpr (kAre<InA, InB, std::uint8_t, std::int8_t>) {
#define TESSERA_TYPES "k32.s32.u8.s8"
    TESSERA_EACH_N(TESSERA_WHOLES)
#undef TESSERA_TYPES
  } else if constexpr (kAre<InA, InB, std::uint8_t, std::uint8_t>) {
#define TESSERA_TYPES "k32.s32.u8.u8"
    TESSERA_EACH_N(TESSERA_WHOLES)
#undef TESSERA_TYPES
  }
}

#undef TESSERA_EACH_N
#undef TESSERA_HALVES
#undef TESSERA_FLOATS
#undef TESSERA_WHOLES
#undef TESSERA_WGMMA
#undef TESSERA_FOUR
#undef TESSERA_AT_8
#undef TESSERA_AT_16
#undef TESSERA_AT_24
#undef TESSERA_AT_32
#undef TESSERA_AT_40
#undef TESSERA_AT_48
#undef TESSERA_AT_56
#undef TESSERA_AT_64
#undef TESSERA_AT_72
#undef TESSERA_AT_80
#undef TESSERA_AT_88
#undef TESSERA_AT_96
#undef TESSERA_AT_104
#undef TESSERA_AT_112
#undef TESSERA_AT_120
#undef TESSERA_AT_128
#undef TESSERA_AT_136
#undef TESSERA_AT_144
#undef TESSERA_AT_152
#undef TESSERA_AT_160
#undef TESSERA_AT_168
#undef TESSERA_AT_176
#undef TESSERA_AT_184
#undef TESSERA_AT_192
#undef TESSERA_AT_200
#undef TESSERA_AT_208
#undef TESSERA_AT_216
#undef TESSERA_AT_224
#undef TESSERA_AT_232
#undef TESSERA_AT_240
#undef TESSERA_AT_248
#undef TESSERA_AT_256
#undef TESSERA_IN_8
#undef TESSERA_IN_16
#undef TESSERA_IN_24
#undef TESSERA_IN_32
#undef TESSERA_IN_40
#undef TESSERA_IN_48
#undef TESSERA_IN_56
#undef TESSERA_IN_64
#undef TESSERA_IN_72
#undef TESSERA_IN_80
#undef TESSERA_IN_88
#undef TESSERA_IN_96
#undef TESSERA_IN_104
#undef TESSERA_IN_112
#undef TESSERA_IN_120
#undef TESSERA_IN_128
#undef TESSERA_IN_136
#undef TESSERA_IN_144
#undef TESSERA_IN_152
#undef TESSERA_IN_160
#undef TESSERA_IN_168
#undef TESSERA_IN_176
#undef TESSERA_IN_184
#undef TESSERA_IN_192
#undef TESSERA_IN_200
#undef TESSERA_IN_208
#undef TESSERA_IN_216
#undef TESSERA_IN_224
#undef TESSERA_IN_232
#undef TESSERA_IN_240
#undef TESSERA_IN_248
#undef TESSERA_IN_256
#undef TESSERA_MAJORS_8
#undef TESSERA_MAJORS_16
#undef TESSERA_MAJORS_24
#undef TESSERA_MAJORS_32
#undef TESSERA_MAJORS_40
#undef TESSERA_MAJORS_48
#undef TESSERA_MAJORS_56
#undef TESSERA_MAJORS_64
#undef TESSERA_MAJORS_72
#undef TESSERA_MAJORS_80
#undef TESSERA_MAJORS_88
#undef TESSERA_MAJORS_96
#undef TESSERA_MAJORS_104
#undef TESSERA_MAJORS_112
#undef TESSERA_MAJORS_120
#undef TESSERA_MAJORS_128
#undef TESSERA_MAJORS_136
#undef TESSERA_MAJORS_144
#undef TESSERA_MAJORS_152
#undef TESSERA_MAJORS_160
#undef TESSERA_MAJORS_168
#undef TESSERA_MAJORS_176
#undef TESSERA_MAJORS_184
#undef TESSERA_MAJORS_192
#undef TESSERA_MAJORS_200
#undef TESSERA_MAJORS_208
#undef TESSERA_MAJORS_216
#undef TESSERA_MAJORS_224
#undef TESSERA_MAJORS_232
#undef TESSERA_MAJORS_240
#undef TESSERA_MAJORS_248
#undef TESSERA_MAJORS_256

}  // namespace tessera::detail
