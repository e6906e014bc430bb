#include "tessera/core/cpu.hpp"

#include <cstdio>
#include <cstdlib>

namespace tessera {

namespace {

VectorPath best_path() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("f16c")) {
    return VectorPath::avx2;
  }
#endif
  return VectorPath::portable;
}

VectorPath choose() {
  const VectorPath best = best_path();
  const char* asked = std::getenv("TESSERA_CPU");
  if (asked == nullptr || *asked == '\0' || name(best) == asked) return best;
  if (name(VectorPath::portable) == asked) return VectorPath::portable;
  std::fprintf(stderr, "tessera: ignoring TESSERA_CPU='%s': expected portable%s\n", asked,
               best == VectorPath::avx2 ? " or avx2" : "; this CPU has no AVX2 with FMA");
  return best;
}

}  // namespace

VectorPath vector_path() {
  static const VectorPath path = choose();
  return path;
}

}  // namespace tessera
