// Builds a program from files in plain CUDA, with the system's C++ compiler: preprocesses,
// rewrites, compiles with every access instrumented, links with the runtime.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tessera/core/error.hpp"

namespace tessera::plain_cuda {

struct Build {
  std::vector<std::filesystem::path> sources;
  std::string flags;  ///< further options of the compiler: "-Iinclude -DN=64"
  /// the text of --launch, of a kernel of the first source; may be empty
  std::string launch;
  bool is_checked = true;     ///< accesses are recorded; else the program just runs
  bool keeps_step = false;    ///< unchecked: the lanes of a warp do each access together
  bool for_debugger = false;  ///< not optimised
  bool prints = true;         ///< the compiler's messages, to stderr
};

/// Error(unavailable): a source does not compile.
class CompileRefused : public Error {
 public:
  CompileRefused(Error error, std::string said) : Error(std::move(error)), said_(std::move(said)) {}
  /// The compiler's messages, for the program's author; those about names of CUDA that are not
  /// offered say what to use instead.
  const std::string& said() const { return said_; }

 private:
  std::string said_;
};

/// The program, in `folder`. Throws Error(file) if a source is missing, CompileRefused if it does
/// not compile, Error(unavailable) if it defines no main(), or if there is no compiler or no
/// library.
std::filesystem::path build(const Build& what, const std::filesystem::path& folder);

}  // namespace tessera::plain_cuda
