// Functions of the C library that the runtime replaces, in the program's own files: what they
// copy is recorded, what they allocate in kernels is the device's, and exit() leaves a
// report. Before any header that declares them.
#pragma once

#include <cstddef>

extern "C" {
[[noreturn]] void exit(int code) noexcept __asm__("tessera_cuda_exit");
[[noreturn]] void _exit(int code) __asm__("tessera_cuda_exit");
[[noreturn]] void _Exit(int code) noexcept __asm__("tessera_cuda_exit");
[[noreturn]] void quick_exit(int code) noexcept __asm__("tessera_cuda_exit");
void* malloc(std::size_t bytes) noexcept __asm__("tessera_cuda_malloc");
void* calloc(std::size_t count, std::size_t bytes) noexcept __asm__("tessera_cuda_calloc");
void* realloc(void* at, std::size_t bytes) noexcept __asm__("tessera_cuda_realloc");
void free(void* at) noexcept __asm__("tessera_cuda_free");
void* memcpy(void* __restrict to, const void* __restrict from, std::size_t bytes) noexcept
    __asm__("tessera_cuda_memcpy");
void* memmove(void* to, const void* from, std::size_t bytes) noexcept
    __asm__("tessera_cuda_memmove");
void* memset(void* at, int value, std::size_t bytes) noexcept __asm__("tessera_cuda_memset");
}

// nvcc takes C++17 by default, and so programs have a lerp() of their own, which that of C++20 in
// the global namespace would hide. A template in std comes after theirs in overload resolution.
#define lerp tessera_lerp
#include <math.h>
#undef lerp
namespace std {
template <class A, class B, class T>
constexpr auto lerp(A a, B b, T t) noexcept {
  return tessera_lerp(a, b, t);
}
}  // namespace std
