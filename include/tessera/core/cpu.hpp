// Which instruction set the CPU engine's kernels run with. Chosen once, at run time, by what the
// CPU can do.
#pragma once

#include <string_view>

namespace tessera {

enum class VectorPath {
  portable,  ///< what every CPU of the architecture has; fused multiply-adds in software where it
             ///< has none
  avx2       ///< AVX2, FMA and F16C
};

constexpr std::string_view name(VectorPath path) {
  return path == VectorPath::avx2 ? "avx2" : "portable";
}

/// The best path of this CPU, or the one that TESSERA_CPU names (portable, avx2). A name that is
/// unknown, or that this CPU cannot run, is reported once on stderr and ignored. The results have
/// the same bits on every path.
VectorPath vector_path();

}  // namespace tessera
