// Makes a program of files in plain CUDA, with the system's C++ compiler: preprocess, rewrite,
// compile with every access told, link with the run-time.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tessera::plain_cuda {

struct Build {
  std::vector<std::filesystem::path> sources;
  std::string flags;          ///< further options of the compiler: "-Iinclude -DN=64"
  std::string launch;         ///< words of --launch, of a kernel of the first source; may be empty
  bool is_checked = true;     ///< accesses are told; else the program just runs
  bool for_debugger = false;  ///< not optimised
};

/// The program, in `folder`; the compiler's messages go to stderr. Throws Error(file) where a
/// source is not there, Error(unavailable) where it does not compile or defines no main(), or where
/// there is no compiler or no library.
std::filesystem::path build(const Build& what, const std::filesystem::path& folder);

}  // namespace tessera::plain_cuda
