// Functions of the C library that the run-time replaces, in the program's own files: what they
// copy is told to the checker, and exit() leaves a report. Before any header that declares them.
#pragma once

#include <cstddef>

extern "C" {
[[noreturn]] void exit(int code) noexcept __asm__("tessera_cuda_exit");
void* memcpy(void* __restrict to, const void* __restrict from, std::size_t bytes) noexcept
    __asm__("tessera_cuda_memcpy");
void* memmove(void* to, const void* from, std::size_t bytes) noexcept
    __asm__("tessera_cuda_memmove");
void* memset(void* at, int value, std::size_t bytes) noexcept __asm__("tessera_cuda_memset");
}

// nvcc takes C++17 by default, and so programs have a lerp() of their own, which that of C++20 in
// the global namespace would hide. A template in std comes behind theirs in overload resolution.
#define lerp tessera_lerp
#include <math.h>
#undef lerp
namespace std {
template <class A, class B, class T>
constexpr auto lerp(A a, B b, T t) noexcept {
  return tessera_lerp(a, b, t);
}
}  // namespace std
