// Functions of a 16-bit type and its pair. Read once for each type, by cuda_fp16.h and cuda_bf16.h,
// which define TESSERA_T, TESSERA_T2 and TESSERA_FORMAT; so it has no guard.

#define TESSERA_FROM(x) TESSERA_T::from_value(x)
#define TESSERA_EACH(f) \
  TESSERA_T2 { f(a.x), f(a.y) }
#define TESSERA_BOTH(f) \
  TESSERA_T2 { f(a.x, b.x), f(a.y, b.y) }

// ---- arithmetic; the suffix _rn forbids to fuse, which nothing here does ----
#define TESSERA_ARITHMETIC(name, pair, operation)                                               \
  inline TESSERA_T name(TESSERA_T a, TESSERA_T b) {                                             \
    return TESSERA_FROM(a.value() operation b.value());                                         \
  }                                                                                             \
  inline TESSERA_T name##_rn(TESSERA_T a, TESSERA_T b) { return name(a, b); }                   \
  inline TESSERA_T name##_sat(TESSERA_T a, TESSERA_T b) {                                       \
    return tessera::plain_cuda::saturated(name(a, b));                                          \
  }                                                                                             \
  inline TESSERA_T2 pair(TESSERA_T2 a, TESSERA_T2 b) { return TESSERA_BOTH(name); }             \
  inline TESSERA_T2 pair##_rn(TESSERA_T2 a, TESSERA_T2 b) { return TESSERA_BOTH(name); }        \
  inline TESSERA_T2 pair##_sat(TESSERA_T2 a, TESSERA_T2 b) { return TESSERA_BOTH(name##_sat); } \
  TESSERA_AT_CALL TESSERA_T operator operation(const TESSERA_T& a, const TESSERA_T& b) {        \
    return name(a, b);                                                                          \
  }                                                                                             \
  TESSERA_AT_CALL TESSERA_T2 operator operation(const TESSERA_T2& a, const TESSERA_T2& b) {     \
    return TESSERA_BOTH(name);                                                                  \
  }                                                                                             \
  TESSERA_AT_CALL TESSERA_T& operator operation##=(TESSERA_T& a, const TESSERA_T& b) {          \
    return a = name(a, b);                                                                      \
  }                                                                                             \
  TESSERA_AT_CALL TESSERA_T2& operator operation##=(TESSERA_T2& a, const TESSERA_T2& b) {       \
    return a = TESSERA_BOTH(name);                                                              \
  }

namespace tessera::plain_cuda {
inline TESSERA_T saturated(TESSERA_T x) {
  const double v = x.value();
  return TESSERA_FROM(!(v > 0) ? 0.0 : v > 1 ? 1.0 : v);
}
}  // namespace tessera::plain_cuda
TESSERA_ARITHMETIC(__hadd, __hadd2, +)
TESSERA_ARITHMETIC(__hsub, __hsub2, -)
TESSERA_ARITHMETIC(__hmul, __hmul2, *)
TESSERA_ARITHMETIC(__hdiv, __h2div, /)
#undef TESSERA_ARITHMETIC

inline TESSERA_T __hfma(TESSERA_T a, TESSERA_T b, TESSERA_T c) {
  return TESSERA_FROM(tessera::plain_cuda::narrow_fma(a.value(), b.value(), c.value()));
}
inline TESSERA_T __hfma_sat(TESSERA_T a, TESSERA_T b, TESSERA_T c) {
  return tessera::plain_cuda::saturated(__hfma(a, b, c));
}
inline TESSERA_T __hfma_relu(TESSERA_T a, TESSERA_T b, TESSERA_T c) {
  const TESSERA_T out = __hfma(a, b, c);
  return out.value() < 0 ? TESSERA_T(0.0f) : out;
}
inline TESSERA_T2 __hfma2(TESSERA_T2 a, TESSERA_T2 b, TESSERA_T2 c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
inline TESSERA_T2 __hfma2_sat(TESSERA_T2 a, TESSERA_T2 b, TESSERA_T2 c) {
  return {__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)};
}
inline TESSERA_T2 __hfma2_relu(TESSERA_T2 a, TESSERA_T2 b, TESSERA_T2 c) {
  return {__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)};
}
/// Complex numbers: a * b + c.
inline TESSERA_T2 __hcmadd(TESSERA_T2 a, TESSERA_T2 b, TESSERA_T2 c) {
  return {__hfma(-a.y, b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))};
}
inline TESSERA_T __hneg(TESSERA_T a) { return -a; }
inline TESSERA_T __habs(TESSERA_T a) {
  return TESSERA_T::from_bits(static_cast<unsigned short>(a.bits() & 0x7fff));
}
inline TESSERA_T2 __hneg2(TESSERA_T2 a) { return TESSERA_EACH(-); }
inline TESSERA_T2 __habs2(TESSERA_T2 a) { return TESSERA_EACH(__habs); }
TESSERA_AT_CALL TESSERA_T2 operator-(const TESSERA_T2& a) { return TESSERA_EACH(-); }
TESSERA_AT_CALL TESSERA_T2 operator+(const TESSERA_T2& a) { return a; }

// ---- comparisons; those with a u hold where one is NaN as well ----
#define TESSERA_COMPARISON(name, operation)                                                       \
  inline bool __h##name(TESSERA_T a, TESSERA_T b) { return a.value() operation b.value(); }       \
  inline bool __h##name##u(TESSERA_T a, TESSERA_T b) {                                            \
    return a.value() operation b.value() || std::isnan(a.value()) || std::isnan(b.value());       \
  }                                                                                               \
  inline TESSERA_T2 __h##name##2(TESSERA_T2 a, TESSERA_T2 b) {                                    \
    return {TESSERA_T(__h##name(a.x, b.x) ? 1.0f : 0.0f),                                         \
            TESSERA_T(__h##name(a.y, b.y) ? 1.0f : 0.0f)};                                        \
  }                                                                                               \
  inline TESSERA_T2 __h##name##u2(TESSERA_T2 a, TESSERA_T2 b) {                                   \
    return {TESSERA_T(__h##name##u(a.x, b.x) ? 1.0f : 0.0f),                                      \
            TESSERA_T(__h##name##u(a.y, b.y) ? 1.0f : 0.0f)};                                     \
  }                                                                                               \
  inline unsigned __h##name##2_mask(TESSERA_T2 a, TESSERA_T2 b) {                                 \
    return (__h##name(a.x, b.x) ? 0xffffu : 0u) | (__h##name(a.y, b.y) ? 0xffff0000u : 0u);       \
  }                                                                                               \
  inline unsigned __h##name##u2_mask(TESSERA_T2 a, TESSERA_T2 b) {                                \
    return (__h##name##u(a.x, b.x) ? 0xffffu : 0u) | (__h##name##u(a.y, b.y) ? 0xffff0000u : 0u); \
  }                                                                                               \
  inline bool __hb##name##2(TESSERA_T2 a, TESSERA_T2 b) {                                         \
    return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                            \
  }                                                                                               \
  inline bool __hb##name##u2(TESSERA_T2 a, TESSERA_T2 b) {                                        \
    return __h##name##u(a.x, b.x) && __h##name##u(a.y, b.y);                                      \
  }                                                                                               \
  TESSERA_AT_CALL bool operator operation(const TESSERA_T& a, const TESSERA_T& b) {               \
    return __h##name(a, b);                                                                       \
  }                                                                                               \
  TESSERA_AT_CALL bool operator operation(const TESSERA_T2& a, const TESSERA_T2& b) {             \
    return __hb##name##2(a, b);                                                                   \
  }
TESSERA_COMPARISON(eq, ==)
TESSERA_COMPARISON(lt, <)
TESSERA_COMPARISON(le, <=)
TESSERA_COMPARISON(gt, >)
TESSERA_COMPARISON(ge, >=)
TESSERA_COMPARISON(ne, !=)
#undef TESSERA_COMPARISON
inline bool __hisnan(TESSERA_T a) { return std::isnan(a.value()); }
inline int __hisinf(TESSERA_T a) { return !std::isinf(a.value()) ? 0 : a.value() < 0 ? -1 : 1; }
inline TESSERA_T2 __hisnan2(TESSERA_T2 a) {
  return {TESSERA_T(__hisnan(a.x) ? 1.0f : 0.0f), TESSERA_T(__hisnan(a.y) ? 1.0f : 0.0f)};
}

// ---- smallest and largest: a NaN is left aside, or with _nan wins; -0 is less than +0 ----
inline TESSERA_T __hmin_nan(TESSERA_T a, TESSERA_T b) {
  if (__hisnan(a) || __hisnan(b)) return TESSERA_FROM(std::nan(""));
  const bool takes_a = a.value() < b.value() || (a.value() == b.value() && (a.bits() >> 15) != 0);
  return takes_a ? a : b;
}
inline TESSERA_T __hmax_nan(TESSERA_T a, TESSERA_T b) {
  if (__hisnan(a) || __hisnan(b)) return TESSERA_FROM(std::nan(""));
  const bool takes_a = b.value() < a.value() || (a.value() == b.value() && (b.bits() >> 15) != 0);
  return takes_a ? a : b;
}
inline TESSERA_T __hmin(TESSERA_T a, TESSERA_T b) {
  return __hisnan(a) ? b : __hisnan(b) ? a : __hmin_nan(a, b);
}
inline TESSERA_T __hmax(TESSERA_T a, TESSERA_T b) {
  return __hisnan(a) ? b : __hisnan(b) ? a : __hmax_nan(a, b);
}
inline TESSERA_T2 __hmin2(TESSERA_T2 a, TESSERA_T2 b) { return TESSERA_BOTH(__hmin); }
inline TESSERA_T2 __hmax2(TESSERA_T2 a, TESSERA_T2 b) { return TESSERA_BOTH(__hmax); }
inline TESSERA_T2 __hmin2_nan(TESSERA_T2 a, TESSERA_T2 b) { return TESSERA_BOTH(__hmin_nan); }
inline TESSERA_T2 __hmax2_nan(TESSERA_T2 a, TESSERA_T2 b) { return TESSERA_BOTH(__hmax_nan); }

// ---- functions ----
#define TESSERA_FUNCTION(name, expression) \
  inline TESSERA_T h##name(TESSERA_T a) {  \
    const double x = a.value();            \
    return TESSERA_FROM(expression);       \
  }                                        \
  inline TESSERA_T2 h2##name(TESSERA_T2 a) { return TESSERA_EACH(h##name); }
TESSERA_FUNCTION(sqrt, std::sqrt(x))
TESSERA_FUNCTION(rsqrt, 1.0 / std::sqrt(x))
TESSERA_FUNCTION(rcp, 1.0 / x)
TESSERA_FUNCTION(exp, std::exp(x))
TESSERA_FUNCTION(exp2, std::exp2(x))
TESSERA_FUNCTION(exp10, std::pow(10.0, x))
TESSERA_FUNCTION(log, std::log(x))
TESSERA_FUNCTION(log2, std::log2(x))
TESSERA_FUNCTION(log10, std::log10(x))
TESSERA_FUNCTION(sin, std::sin(x))
TESSERA_FUNCTION(cos, std::cos(x))
TESSERA_FUNCTION(tanh, std::tanh(x))
TESSERA_FUNCTION(tanh_approx, std::tanh(x))
TESSERA_FUNCTION(ceil, std::ceil(x))
TESSERA_FUNCTION(floor, std::floor(x))
TESSERA_FUNCTION(trunc, std::trunc(x))
TESSERA_FUNCTION(rint, std::nearbyint(x))
#undef TESSERA_FUNCTION

// ---- atomics, and loads with a cache's hint of pairs are those of cuda_runtime.h ----
inline TESSERA_T atomicAdd(TESSERA_T* address, TESSERA_T value, TESSERA_PLACE) {
  return tessera::plain_cuda::update(address, place,
                                     [=](TESSERA_T old) { return __hadd(old, value); });
}
inline TESSERA_T2 atomicAdd(TESSERA_T2* address, TESSERA_T2 value, TESSERA_PLACE) {
  return tessera::plain_cuda::update(address, place,
                                     [=](TESSERA_T2 old) { return __hadd2(old, value); });
}
TESSERA_AT_CALL TESSERA_T2& operator++(TESSERA_T2& a) {
  return a = a + TESSERA_T2{TESSERA_T(1.0f), TESSERA_T(1.0f)};
}
#undef TESSERA_FROM
#undef TESSERA_EACH
#undef TESSERA_BOTH
