// Kernels in plain C++, for every CPU. Where the architecture has no fused multiply-add, the C
// library's is called: slow, but the same bits.
#include "microkernel.hpp"

namespace tessera::cpu {

namespace {

template <class T, int Lanes>
struct Vector {
  using element = T;
  struct type {
    T x[Lanes];
  };
  static constexpr int lanes = Lanes, transposed = 0;
  static type zero() { return {}; }
  static type splat(T x) {
    type out;
    for (int i = 0; i < lanes; ++i) out.x[i] = x;
    return out;
  }
  static int first(int n) { return n; }
  static type load(const T* p) { return load_first(p, lanes); }
  static type load_first(const T* p, int n) {
    type out{};
    for (int i = 0; i < n; ++i) out.x[i] = p[i];
    return out;
  }
  static type broadcast(const T* p) { return splat(*p); }
  static type fma(type a, type b, type c) {
    for (int i = 0; i < lanes; ++i) {
      if constexpr (sizeof(T) == 4) c.x[i] = __builtin_fmaf(a.x[i], b.x[i], c.x[i]);
      else c.x[i] = __builtin_fma(a.x[i], b.x[i], c.x[i]);
    }
    return c;
  }
  static type mul(type a, type b) {
    for (int i = 0; i < lanes; ++i) a.x[i] *= b.x[i];
    return a;
  }
  static type relu(type x, type zero) {
    for (int i = 0; i < lanes; ++i) x.x[i] = x.x[i] < zero.x[i] ? zero.x[i] : x.x[i];
    return x;
  }
  static void store(T* p, type x) { store_first(p, lanes, x); }
  static void store_first(T* p, int n, type x) {
    for (int i = 0; i < n; ++i) p[i] = x.x[i];
  }
  static void stream(T* p, type x) { store(p, x); }
  static void transpose(T*, index_t, const T*, index_t) {}
};

constexpr Kernels<float> kF32 = make_kernels<Vector<float, 4>, 4, 1>("portable");
constexpr Kernels<double> kF64 = make_kernels<Vector<double, 2>, 4, 1>("portable");

}  // namespace

template <>
const Kernels<float>* portable_kernels<float>() {
  return &kF32;
}
template <>
const Kernels<double>* portable_kernels<double>() {
  return &kF64;
}

}  // namespace tessera::cpu
