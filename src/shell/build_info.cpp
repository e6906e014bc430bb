// Build facts: see build_info.hpp.
#include "build_info.hpp"

#include "suggest.hpp"
#include "tessera/core/config.hpp"
#include "tessera/core/text.hpp"
#include "tessera/cuda/runtime.hpp"

namespace tessera::shell {

std::string compiler_text() {
#if defined(__clang__)
  return cat("Clang ", __clang_major__, ".", __clang_minor__, ".", __clang_patchlevel__);
#else
  return cat("GCC ", __GNUC__, ".", __GNUC_MINOR__, ".", __GNUC_PATCHLEVEL__);
#endif
}

std::string build_type() {
#if defined(NDEBUG)
  return "release";
#else
  return "debug";
#endif
}

std::vector<std::string> instruction_sets() {
  std::vector<std::string> out;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("sse4.2")) out.emplace_back("sse4.2");
  if (__builtin_cpu_supports("avx")) out.emplace_back("avx");
  if (__builtin_cpu_supports("avx2")) out.emplace_back("avx2");
  if (__builtin_cpu_supports("fma")) out.emplace_back("fma");
  if (__builtin_cpu_supports("avx512f")) out.emplace_back("avx512f");
  if (__builtin_cpu_supports("avx512vl")) out.emplace_back("avx512vl");
  if (__builtin_cpu_supports("avx512bw")) out.emplace_back("avx512bw");
  if (__builtin_cpu_supports("avx512bf16")) out.emplace_back("avx512bf16");
#elif defined(__aarch64__)
  out.emplace_back("neon");
#endif
  return out;
}

std::string version_text() {
  return cat("tessera ", TESSERA_VERSION, "\ncompiler: ", compiler_text(), " (", build_type(),
             ")\ninstruction sets: ", join(instruction_sets(), " "),
             "\nCUDA: ", cuda::is_built() ? "yes" : "no", "\n");
}

}  // namespace tessera::shell
