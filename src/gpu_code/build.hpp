// Compiles a file with kernels for OpenCL devices and AMD GPUs, by Clang. Called when this project
// and its users' are built (tool.cpp), and when a program starts a kernel that is not compiled yet.
#pragma once

#include <string>
#include <vector>

namespace tessera::gpu_code {

struct Compilation {
  std::string source = {};              ///< file
  std::vector<std::string> flags = {};  ///< include folders, definitions
  std::string target = {};              ///< "spir" (OpenCL), "gfx90a" (AMD)
  std::string clang = {};               ///< the compiler, or empty: find_clang()
  std::string spirv = {};               ///< llvm-spirv, or empty: no SPIR-V
};
struct Compiled {
  std::string code, spirv, entries;
};

/// TESSERA_CLANG, else clang++-14 or clang++ of the PATH; empty where there is none.
std::string find_clang();
/// Throws Error(unavailable) with Clang's messages where the file does not compile.
Compiled compile(const Compilation& compilation);
/// What the compiler would read, after its preprocessor. Throws as compile().
std::string preprocessed(const Compilation& compilation);

}  // namespace tessera::gpu_code
