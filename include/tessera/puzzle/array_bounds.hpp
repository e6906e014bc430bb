// The handlers that -fsanitize=bounds calls. Only the program that `tessera puzzle run` makes of a
// learner's file includes them, so no other program's sanitizer is replaced. The compiler's
// sanitizer library is not needed.
#pragma once

#include <cstdint>

#include "tessera/simt/array_bounds.hpp"

namespace tessera::puzzle {

/// The layout that GCC and Clang use.
struct SanitizerType {
  std::uint16_t kind, info;  ///< of integers, info: 2 log2(bits) + is it signed?
  char name[1];
};
struct SanitizerBounds {
  const char* file;
  std::uint32_t line, column;
  const SanitizerType *array, *index;
};

inline void fail_outside(const void* data, const void* value) {
  const auto& at = *static_cast<const SanitizerBounds*>(data);
  auto index = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(value));
  const int bits = 1 << (at.index->info >> 1);
  const bool is_signed = (at.index->info & 1) != 0;
  if (bits < 64 && is_signed)
    index =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(index) << (64 - bits)) >> (64 - bits);
  tessera::detail::fail_outside_array({at.file, static_cast<int>(at.line), 0}, at.array->name,
                                      index);
}

}  // namespace tessera::puzzle

// NOLINTNEXTLINE(readability-identifier-naming): the name is the compilers'
extern "C" void __ubsan_handle_out_of_bounds(void* data, void* index) {
  tessera::puzzle::fail_outside(data, index);
}
