// Which instruction set runs. Chosen once, at run time, by what the CPU can do, never by its name.
#pragma once

#include <string>
#include <string_view>

namespace tessera {

/// Each path includes what the ones before it have (NEON is separate, on AArch64).
enum class VectorPath {
  portable,  ///< what every CPU of the architecture has; fused multiply-adds in software where it
             ///< has none
  neon,      ///< AArch64 Advanced SIMD
  avx2,      ///< AVX2, FMA and F16C
  avx512     ///< AVX-512 F, BW, DQ and VL
};

constexpr std::string_view name(VectorPath path) {
  switch (path) {
    case VectorPath::neon: return "neon";
    case VectorPath::avx2: return "avx2";
    case VectorPath::avx512: return "avx512";
    default: return "portable";
  }
}

/// The best path of this CPU, or the one that TESSERA_CPU names. A name that is unknown, or that
/// this CPU cannot run, is reported once on stderr and ignored. "amx" is avx512 plus the AMX tile
/// unit. f32 and f64 results have the same bits on every path. The packed path has kernels for all
/// of them; for the CPU engine see thread_engine_path().
VectorPath vector_path();

/// The best path that the CPU has, regardless of TESSERA_CPU.
VectorPath best_vector_path();

/// The widest instruction set that TESSERA_CPU may name on this CPU.
std::string_view best_cpu_name();

/// Instructions beyond the path that some products use. None on paths below avx512. The first call
/// requests the AMX tile unit from the system, as a process must once before using it.
struct CpuFeatures {
  bool bf16 = false;  ///< AVX512_BF16: vdpbf16ps
  bool vnni = false;  ///< AVX512_VNNI: vpdpbusd
  bool fp16 = false;  ///< AVX512_FP16: reported, not used; its sums are f16
  bool amx_bf16 = false, amx_fp16 = false, amx_int8 = false;
};
CpuFeatures cpu_features();

/// "avx512 bf16 vnni"
std::string cpu_text();

/// The instruction set of the CPU engine, which runs kernels: "avx2" on CPUs that have it, else
/// "portable", which every CPU of the architecture runs.
std::string_view thread_engine_path();

/// The multiply-add instructions that the packed path uses for each type, as text for reports:
/// those of the tables that src/cpu/kernels.cpp selects for this path and these features of the
/// CPU.
struct ProductInstructions {
  std::string_view floats;  ///< f32 and f64
  std::string_view bf16, f16, i8, u8;
};
ProductInstructions product_instructions(VectorPath path, const CpuFeatures& features);

}  // namespace tessera
