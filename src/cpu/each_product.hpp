// The element types of the packed path's products, as a list for explicit instantiations; the one
// that src/matmul reads is product_types.hpp.
#pragma once

#include <cstdint>

#include "tessera/core/small_float.hpp"
#include "tessera/cpu/gemm.hpp"

/// Types of A and B: what can be packed.
#define TESSERA_EACH_OPERAND(each)                                                              \
  each(double) each(float) each(f16) each(bf16) each(std::int8_t) each(std::uint8_t) each(U8I8) \
      each(I8U8)

/// Types of A and B, and of C.
#if defined(TESSERA_ONLY_DEMO)
#define TESSERA_EACH_PRODUCT(each) each(float, float)
#else
#define TESSERA_EACH_PRODUCT(each)                                                            \
  each(double, double) each(float, float) each(float, f16) each(float, bf16) each(f16, f16)   \
      each(f16, float) each(bf16, bf16) each(bf16, float) each(std::int8_t, std::int32_t)     \
          each(std::int8_t, float) each(std::uint8_t, std::int32_t) each(std::uint8_t, float) \
              each(U8I8, std::int32_t) each(U8I8, float) each(I8U8, std::int32_t)             \
                  each(I8U8, float)
#endif
