// How this program was built, and what this CPU offers.
#pragma once

#include <string>
#include <vector>

namespace tessera::shell {

/// "GCC 12.2.0", "Clang 14.0.6".
std::string compiler_text();
/// "release" or "debug".
std::string build_type();
/// The relevant instruction sets that this CPU and operating system offer.
std::vector<std::string> instruction_sets();
/// The text of --version: one fact per line.
std::string version_text();

}  // namespace tessera::shell
