// `tessera check FILE.cpp`: a file with a kernel of the user's own, compiled with the system's
// compiler and run.
#pragma once

#include <string>
#include <vector>

namespace tessera::cli {

/// Compiles the file (CXX, else c++), runs it with these key=value arguments (check/file.hpp), its
/// streams being ours. Returns the program's exit code. Throws Error(file) where there is no file,
/// Error(unavailable) where it does not compile or no compiler or library is found, Error(kernel)
/// where the program crashes.
int check_file(const std::string& path, const std::vector<std::string>& arguments);

}  // namespace tessera::cli
