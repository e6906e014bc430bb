// While one exists, this thread's arithmetic keeps subnormal numbers, whatever its caller has set
// (DAZ and FTZ on x86-64, FZ on AArch64). Algorithms add zeros in different places, as at the edges
// of tiles; these change no sum unless subnormal numbers are flushed. This keeps the bits of all
// algorithms equal. Private to src/matmul.
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace tessera::detail {

class KeepsSubnormals {
 public:
  KeepsSubnormals() {
    if (flushes_ != 0) set_control(control() & ~flushes_);
  }
  ~KeepsSubnormals() {
    if (flushes_ != 0) set_control(control() | flushes_);
  }
  KeepsSubnormals(const KeepsSubnormals&) = delete;
  KeepsSubnormals& operator=(const KeepsSubnormals&) = delete;

 private:
#if defined(__x86_64__)
  static constexpr unsigned long kFlushes = 0x8040;  // FTZ, DAZ
  static unsigned long control() { return _mm_getcsr(); }
  static void set_control(unsigned long to) { _mm_setcsr(static_cast<unsigned>(to)); }
#elif defined(__aarch64__)
  static constexpr unsigned long kFlushes = 1ul << 24 | 1ul << 19;  // FZ, FZ16
  static unsigned long control() {
    unsigned long out;
    asm volatile("mrs %0, fpcr" : "=r"(out));
    return out;
  }
  static void set_control(unsigned long to) { asm volatile("msr fpcr, %0" : : "r"(to)); }
#else
  static constexpr unsigned long kFlushes = 0;
  static unsigned long control() { return 0; }
  static void set_control(unsigned long) {}
#endif

  const unsigned long flushes_ = control() & kFlushes;
};

}  // namespace tessera::detail
