// Makes a program of a file with a kernel, for the checker, with the system's compiler.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::cli {

struct Compilation {
  std::filesystem::path source;  ///< defines check_kernel (check/file.hpp)
  std::string what;              ///< what messages call it: "kernel.cpp"
  std::string flags;             ///< further options of the compiler
  bool for_debugger = false;     ///< not optimised
};

/// The program, in `folder`. The compiler is CXX (words: "ccache g++"), else c++; its messages go
/// to our stderr. Throws Error(unavailable) where there is no compiler or no library, where the
/// source does not compile, or has no check_kernel.
std::filesystem::path compile(const Compilation& compilation, const std::filesystem::path& folder);

/// The words of a text, apart by blanks; quotes of both kinds hold words together.
std::vector<std::string> split_words(std::string_view text);

}  // namespace tessera::cli
