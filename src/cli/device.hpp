// Device names as users type them.
#pragma once

#include <string>

namespace tessera::cli {

/// Turns what the user typed into "cpu" or "cuda:N" ("cuda" is "cuda:0"). Throws Error(unavailable)
/// with the reason if there is no such CUDA device, Error(argument) for any other name.
std::string named_device(const std::string& text);

}  // namespace tessera::cli
