#include "kernels.hpp"

#include "tessera/core/cpu.hpp"

namespace tessera::cpu {

template <class T>
const Kernels<T>& kernels() {
  static const Kernels<T>& chosen = []() -> const Kernels<T>& {
    switch (vector_path()) {
#if defined(__x86_64__)
      case VectorPath::avx512: return *avx512_kernels<T>();
      case VectorPath::avx2: return *avx2_kernels<T>();
#elif defined(__aarch64__)
      case VectorPath::neon: return *neon_kernels<T>();
#endif
      default: return *portable_kernels<T>();
    }
  }();
  return chosen;
}

template const Kernels<float>& kernels<float>();
template const Kernels<double>& kernels<double>();

}  // namespace tessera::cpu
