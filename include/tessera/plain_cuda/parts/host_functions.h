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
