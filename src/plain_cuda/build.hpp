// Builds a program from files in plain CUDA, with the system's C++ compiler: preprocesses,
// rewrites, compiles with every access instrumented, links with the run-time.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tessera::plain_cuda {

struct Build {
  std::vector<std::filesystem::path> sources;
  std::string flags;  ///< further options of the compiler: "-Iinclude -DN=64"
  /// the text of --launch, of a kernel of the first source; may be empty
  std::string launch;
  bool is_checked = true;     ///< accesses are recorded; else the program just runs
  bool for_debugger = false;  ///< not optimised
};

/// The program, in `folder`; the compiler's messages go to stderr. Throws Error(file) if a source
/// is missing, Error(unavailable) if it does not compile or defines no main(), or if there is no
/// compiler or no library.
std::filesystem::path build(const Build& what, const std::filesystem::path& folder);

}  // namespace tessera::plain_cuda
