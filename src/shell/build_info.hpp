// What this program was built with and what this processor offers.
#pragma once

#include <string>
#include <vector>

namespace tessera::shell {

/// "GCC 12.2.0", "Clang 14.0.6".
std::string compiler_text();
/// "release" or "debug".
std::string build_type();
/// Of the instruction sets that matter here, those this processor and operating system offer.
std::vector<std::string> instruction_sets();
/// What --version prints: one fact per line.
std::string version_text();

}  // namespace tessera::shell
