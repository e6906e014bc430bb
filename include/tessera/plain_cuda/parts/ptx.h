// Inline PTX, which `tessera check` turns into calls of ptx(): interpreted statement by statement.
// What the interpreter does not know ends the check and is named. Implemented in
// src/plain_cuda/runtime/ptx*.cpp.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "async.h"

namespace tessera::plain_cuda {

/// An operand of an asm statement: `name` as in [name], or null.
struct PtxOperand {
  const char* name;
  const char* constraint;  ///< "=r", "+f", "l", "n", ...
  std::uint64_t bits;
  std::size_t bytes;
};
void run_ptx(Place place, const char* text, PtxOperand* operands, int count);

template <class T>
struct PtxOut {
  const char* name;
  const char* constraint;
  T& to;
};
template <class T>
struct PtxIn {
  const char* name;
  const char* constraint;
  T value;
};

template <class T>
constexpr PtxOut<T> ptx_out(const char* constraint, T& to) {
  return {nullptr, constraint, to};
}
template <class T>
constexpr PtxOut<T> ptx_out(const char* name, const char* constraint, T& to) {
  return {name, constraint, to};
}
template <class T>
constexpr PtxIn<T> ptx_in(const char* constraint, T value) {
  return {nullptr, constraint, value};
}
template <class T>
constexpr PtxIn<T> ptx_in(const char* name, const char* constraint, T value) {
  return {name, constraint, value};
}

template <class T>
inline std::uint64_t ptx_bits(const T& value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  } else {
    static_assert(sizeof(T) <= 8, "operands of inline PTX have up to 64 bits");
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
  }
}
template <class T>
inline PtxOperand ptx_operand(const PtxIn<T>& in) {
  return {in.name, in.constraint, ptx_bits(in.value), sizeof(T)};
}
template <class T>
inline PtxOperand ptx_operand(const PtxOut<T>& out) {
  return {out.name, out.constraint, out.constraint[0] == '+' ? ptx_bits(out.to) : 0, sizeof(T)};
}
template <class T>
inline void ptx_take(Place, const PtxIn<T>&, const std::uint64_t&) {}
template <class T>
inline void ptx_take(Place place, const PtxOut<T>& out, const std::uint64_t& bits) {
  store_result(place, &out.to, &bits, sizeof(T));
}

template <class... Operands>
inline __attribute__((always_inline)) void ptx(Place place, const char* text,
                                               const Operands&... operands) {
  PtxOperand all[] = {ptx_operand(operands)..., {nullptr, "", 0, 0}};
  run_ptx(place, text, all, static_cast<int>(sizeof...(Operands)));
  int i = 0;
  (ptx_take(place, operands, all[i++].bits), ...);
}

}  // namespace tessera::plain_cuda

inline std::size_t __cvta_generic_to_shared(const void* at) {
  return tessera::plain_cuda::shared_address(at);
}
inline void* __cvta_shared_to_generic(std::size_t at) {
  return tessera::plain_cuda::shared_pointer(static_cast<std::uint32_t>(at));
}
inline std::size_t __cvta_generic_to_global(const void* at) {
  return reinterpret_cast<std::size_t>(at);
}
inline void* __cvta_global_to_generic(std::size_t at) { return reinterpret_cast<void*>(at); }
inline unsigned __isShared(const void* at) {
  return tessera::plain_cuda::is_in_space(at, tessera::plain_cuda::Space::shared);
}
inline unsigned __isGlobal(const void* at) {
  return tessera::plain_cuda::is_in_space(at, tessera::plain_cuda::Space::global);
}
inline unsigned __isLocal(const void* at) {
  return tessera::plain_cuda::is_in_space(at, tessera::plain_cuda::Space::local);
}
inline unsigned __isConstant(const void* at) {
  return tessera::plain_cuda::is_in_space(at, tessera::plain_cuda::Space::constant);
}
