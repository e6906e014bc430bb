// The element types of the packed path's products, for explicit instantiations.
#pragma once

#include <cstdint>

#include "tessera/core/small_float.hpp"
#include "tessera/cpu/gemm.hpp"

/// Types of A and B: what can be packed.
#define TESSERA_EACH_OPERAND(each)                                                              \
  each(double) each(float) each(f16) each(bf16) each(std::int8_t) each(std::uint8_t) each(U8I8) \
      each(I8U8)

/// Types of A and B, and of C: TESSERA_INSTANTIATE_PRODUCT(In, Out) for those of base/products.inc,
/// and for bytes of different sign.
#define TESSERA_PRODUCT(by, In, Out) TESSERA_BY_##by(In, Out)
#define TESSERA_BY_units(In, Out) TESSERA_INSTANTIATE_PRODUCT(In, Out)
#define TESSERA_BY_doubles(In, Out) TESSERA_INSTANTIATE_PRODUCT(In, Out)
#define TESSERA_BY_packed(In, Out) TESSERA_INSTANTIATE_PRODUCT(In, Out)
#define TESSERA_BY_bytes(In, Out) TESSERA_INSTANTIATE_PRODUCT(In, Out)
#define TESSERA_BY_ladder(In, Out)
#define TESSERA_BY_f8(In, Out)
#if defined(TESSERA_ONLY_DEMO)
#define TESSERA_EACH_MIXED_PRODUCT(each)
#else
#define TESSERA_EACH_MIXED_PRODUCT(each) \
  each(U8I8, std::int32_t) each(U8I8, float) each(I8U8, std::int32_t) each(I8U8, float)
#endif
