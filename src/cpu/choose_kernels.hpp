// The table of microkernels for a C++ element type.
#pragma once

#include <type_traits>

#include "complex_parts.hpp"
#include "tessera/core/small_float.hpp"

namespace tessera::cpu {

/// For float and double.
template <class In>
const auto& plain_kernels() {
  if constexpr (std::is_same_v<In, float>) return kernel_set().f32;
  else return kernel_set().f64;
}

/// For float and double: the tables for a tiny product with N columns.
template <class In>
const auto& tiny_kernels(index_t N) {
  if constexpr (std::is_same_v<In, float>) return tiny_f32_kernels(N);
  else return kernel_set().f64;
}

/// Calls body(table).
template <class In, class Body>
void with_kernels(Body&& body) {
  if constexpr (std::is_same_v<In, float> || std::is_same_v<In, double>) body(plain_kernels<In>());
  else if constexpr (std::is_same_v<In, ComplexPart<float>>) body(kernel_set().c32);
  else if constexpr (std::is_same_v<In, ComplexPart<double>>) body(kernel_set().c64);
  else if constexpr (std::is_same_v<In, std::int8_t>) body(byte_kernels().i8);
  else if constexpr (std::is_same_v<In, std::uint8_t>) body(byte_kernels().u8);
  else if constexpr (std::is_same_v<In, U8I8>) body(byte_kernels().u8i8);
  else if constexpr (std::is_same_v<In, I8U8>) body(byte_kernels().i8u8);
  else if constexpr (std::is_same_v<In, f16>) {
    if (const auto* pairs = f16_pair_kernels(); pairs != nullptr) body(*pairs);
    else body(kernel_set().f16);
  } else {
    if (const auto* pairs = bf16_pair_kernels(); pairs != nullptr) body(*pairs);
    else body(kernel_set().bf16);
  }
}

}  // namespace tessera::cpu
