// Reads the CPU's features once and takes the widest instruction set that this build has kernels
// for; TESSERA_CPU may ask for a narrower one, never for one that the CPU lacks. All dispatch uses
// this, so that one process has one answer.
#include "tessera/core/cpu.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>

#include "cpu_names.hpp"
#include "tessera/core/text.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tessera {

namespace {

#if defined(__x86_64__)
// CPUID is slow on a virtual machine, which traps it, so the first call of a process should execute
// none: the compiler's runtime library has already read these features.

bool has_f16c() {
#if defined(__clang__)  // version 14 does not know it: Intel SDM vol. 2, CPUID, leaf 1, ECX bit 29
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c >> 29 & 1) != 0;
#else
  return __builtin_cpu_supports("f16c");
#endif
}

/// The tile unit's bits, if the system switches its registers at all. Intel SDM vol. 2, CPUID, leaf
/// 7: sub-leaf 0 EDX[22, 24, 25] BF16, TILE, INT8; sub-leaf 1 EAX[21] FP16; vol. 1, 13.3:
/// XCR0[18:17] TILEDATA and TILECFG. Read only where there is AVX-512, and so XGETBV.
CpuFeatures tile_features() {
  CpuFeatures out;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d >> 24 & 1) == 0) return out;
  unsigned low = 0, high = 0;
  asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  if ((low >> 17 & 3) != 3) return out;
  out.amx_bf16 = (d >> 22 & 1) != 0;
  out.amx_int8 = (d >> 25 & 1) != 0;
  out.amx_fp16 = __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a >> 21 & 1) != 0;
  return out;
}

/// May this process use the tile unit? Linux, Documentation/arch/x86/xstate.rst:
/// ARCH_REQ_XCOMP_PERM of component 18, TILEDATA.
bool allowed_tiles() { return syscall(SYS_arch_prctl, 0x1023, 18) == 0; }
#endif

bool runs(VectorPath path) {
  switch (path) {
    case VectorPath::portable: return true;
#if defined(__x86_64__)
    case VectorPath::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
    case VectorPath::avx512:
      return runs(VectorPath::avx2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vl");
#elif defined(__aarch64__)
    case VectorPath::neon: return true;
#endif
    default: return false;
  }
}

[[maybe_unused]] bool has_tiles(const CpuFeatures& features) {
  return features.amx_bf16 || features.amx_fp16 || features.amx_int8;
}
bool has_tiles() {
#if defined(__x86_64__)
  return runs(VectorPath::avx512) && has_tiles(tile_features());
#else
  return false;
#endif
}

constexpr std::array kPaths = {VectorPath::portable, VectorPath::neon, VectorPath::avx2,
                               VectorPath::avx512};

constexpr std::string_view kTiles = "amx";

struct Choice {
  VectorPath path;
  bool tiles;  ///< usable tile instructions, if any
};

Choice choose() {
  const Choice best{best_vector_path(), true};
  const char* requested = std::getenv("TESSERA_CPU");
  if (requested == nullptr || *requested == '\0') return best;
  std::string known;
  for (const VectorPath path : kPaths) {
    if (!runs(path)) continue;
    if (name(path) == requested) return {path, false};
    known += (known.empty() ? "" : ", ") + std::string(name(path));
  }
  if (has_tiles()) {
    if (requested == kTiles) return best;
    known += ", " + std::string(kTiles);
  }
  std::fprintf(stderr, "tessera: ignoring TESSERA_CPU='%s': this CPU runs %s\n",
               printable(requested).c_str(), known.c_str());
  return best;
}

const Choice& choice() {
  static const Choice chosen = choose();
  return chosen;
}

CpuFeatures read_features() {
  CpuFeatures out;
#if defined(__x86_64__)
  if (vector_path() != VectorPath::avx512) return out;
  if (choice().tiles) out = tile_features();
  if (has_tiles(out) && !allowed_tiles()) out = {};
  unsigned a = 0, b = 0, c = 0, d = 0;
  // Intel SDM vol. 2A, CPUID leaf 7: sub-leaf 0 ECX[11] VNNI, EDX[23] FP16; sub-leaf 1 EAX[5] BF16.
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) {
    out.vnni = (c >> 11 & 1) != 0;
    out.fp16 = (d >> 23 & 1) != 0;
  }
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d) != 0) out.bf16 = (a >> 5 & 1) != 0;
#endif
  return out;
}

}  // namespace

VectorPath best_vector_path() {
  VectorPath best = VectorPath::portable;
  for (const VectorPath path : kPaths) {
    if (runs(path)) best = path;
  }
  return best;
}

std::string detail::cpu_names() {
  std::string out;
  for (const VectorPath path : kPaths)
    out += cat(name(path), path == kPaths.back() ? " or " : ", ");
  return out += kTiles;
}

VectorPath vector_path() { return choice().path; }

std::string_view best_cpu_name() { return has_tiles() ? kTiles : name(best_vector_path()); }

CpuFeatures cpu_features() {
  static const CpuFeatures features = read_features();
  return features;
}

std::string_view thread_engine_path() {
#if defined(__x86_64__)
  if (vector_path() >= VectorPath::avx2) return name(VectorPath::avx2);
#endif
  return name(VectorPath::portable);
}

ProductInstructions product_instructions(VectorPath path, const CpuFeatures& features) {
  ProductInstructions out;
  out.floats = path == VectorPath::avx512 ? "fused multiply-adds of 512 bits"
               : path == VectorPath::avx2 ? "fused multiply-adds of 256 bits"
               : path == VectorPath::neon ? "fused multiply-adds of 128 bits"
                                          : "fused multiply-adds in plain C++";
  out.bf16 = features.amx_bf16 ? "tdpbf16ps"
             : features.bf16   ? "vdpbf16ps of 512 bits"
                               : "converted to f32";
  out.f16 = features.amx_fp16 ? "tdpfp16ps" : "converted to f32";
  const std::string_view bytes = features.vnni                ? "vpdpbusd of 512 bits"
                                 : path == VectorPath::avx512 ? "vpmaddwd of 512 bits"
                                 : path == VectorPath::avx2   ? "vpmaddwd of 256 bits"
                                                              : "multiply-adds in plain C++";
  out.i8 = features.amx_int8 ? "tdpbssd" : bytes;
  out.u8 = features.amx_int8 ? "tdpbuud" : bytes;
  return out;
}

std::string cpu_text() {
  std::string out(name(vector_path()));
  const CpuFeatures f = cpu_features();
  if (f.bf16) out += " bf16";
  if (f.vnni) out += " vnni";
  if (f.fp16) out += " fp16";
  if (f.amx_bf16) out += " amx-bf16";
  if (f.amx_fp16) out += " amx-fp16";
  if (f.amx_int8) out += " amx-int8";
  return out;
}

}  // namespace tessera
