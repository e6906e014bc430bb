// Compiles a file with a kernel into a program for the checker, with the system's compiler.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "program.hpp"

namespace tessera::process {

struct Compilation {
  std::filesystem::path source;  ///< defines check_kernel (check/file.hpp)
  std::string what;              ///< its name in messages: "kernel.cpp"
  std::string flags;             ///< further options of the compiler
  bool for_debugger = false;     ///< not optimised
};

/// Throws Error(file), which calls it `what`, if it is missing or is a folder.
void require_file(const std::filesystem::path& source, const std::string& what);

/// The program, in `folder`. The compiler is CXX (may have several words: "ccache g++"), else c++,
/// else, for an installed Python package, that of PyPI's ziglang; its messages go to our stderr.
/// Throws Error(unavailable) if there is no compiler or no library, or if the source does not
/// compile.
std::filesystem::path compile(const Compilation& compilation, const std::filesystem::path& folder);

/// Where the headers and the library are.
struct Installed {
  std::filesystem::path include, library;
};
/// Looks beside this program: in an installed prefix, or in a build folder, whose cache names the
/// sources. Throws Error(unavailable) if they are not found.
Installed installed();

/// An option that searches a folder for headers before all others: it has this header precompiled
/// by GCC with the library (cmake/compiled_header.cmake). Empty if a header has changed since; GCC
/// itself checks that compiler and options are the same.
std::vector<std::string> compiled_header(const Installed& at, const std::string& header);

/// Runs the compiler with these arguments after its own; its stderr goes to ours or to a file. It
/// runs in `folder`, or here, and is ended after `seconds`; 0: never. Throws Error(unavailable) if
/// there is no compiler.
ProgramEnd run_compiler(std::vector<std::string> words, const std::string& stderr_file = {},
                        const std::string& folder = {}, double seconds = 0);

/// The same to link a program: with the fastest linker that is installed and, where that fails,
/// with the compiler's own, whose messages are known.
bool run_linker(const std::vector<std::string>& words, const std::string& stderr_file,
                const std::string& folder = {});

/// The arguments that the linker needs for a program that uses the library.
std::vector<std::string> link_words(const Installed& at);

/// The words of a text, separated by blanks; quotes of both kinds hold words together.
std::vector<std::string> split_words(std::string_view text);

}  // namespace tessera::process
