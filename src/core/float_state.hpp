// The floating-point environment of this thread: rounding, subnormal numbers, which exceptions
// trap, and the flags raised. A worker adopts its caller's environment and returns the flags that
// it raised, so that neither results nor flags depend on which thread computed what. Private to
// src/core.
#pragma once

#include <cfenv>

#if defined(__x86_64__)
#include <xmmintrin.h>
#elif defined(__aarch64__)
#include <cstdint>
#endif

namespace tessera {

#if defined(__x86_64__)

using FloatState = unsigned;  ///< MXCSR
constexpr unsigned kFloatFlags = 0x3F;

inline FloatState float_state() { return _mm_getcsr(); }
inline void set_float_state(FloatState state) {
  std::fesetround(static_cast<int>(state >> 3 & 0xC00));  // the x87's too: bits 13, 14 of MXCSR
  _mm_setcsr(state);
}
inline unsigned float_flags(FloatState state) { return state & kFloatFlags; }
inline void add_float_flags(unsigned flags) { _mm_setcsr(_mm_getcsr() | flags); }

#elif defined(__aarch64__)

struct FloatState {
  std::uint64_t control, status;  ///< FPCR, FPSR
};
constexpr unsigned kFloatFlags = 0x9F;

inline FloatState float_state() {
  FloatState out;
  asm volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(out.control), "=r"(out.status));
  return out;
}
inline void set_float_state(const FloatState& state) {
  asm volatile("msr fpcr, %0\n\tmsr fpsr, %1" : : "r"(state.control), "r"(state.status));
}
inline unsigned float_flags(const FloatState& state) {
  return static_cast<unsigned>(state.status) & kFloatFlags;
}
inline void add_float_flags(unsigned flags) {
  FloatState state = float_state();
  state.status |= flags;
  set_float_state(state);
}

#else

struct FloatState {
  int rounding, flags;
};

inline FloatState float_state() { return {std::fegetround(), std::fetestexcept(FE_ALL_EXCEPT)}; }
inline void set_float_state(const FloatState& state) {
  std::fesetround(state.rounding);
  std::feclearexcept(FE_ALL_EXCEPT);
  std::feraiseexcept(state.flags);
}
inline unsigned float_flags(const FloatState& state) { return static_cast<unsigned>(state.flags); }
inline void add_float_flags(unsigned flags) { std::feraiseexcept(static_cast<int>(flags)); }

#endif

}  // namespace tessera
