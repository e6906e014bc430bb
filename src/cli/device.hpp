// Device names as users type them.
#pragma once

#include <string>

namespace tessera::cli {

/// "cpu" or "cuda:N" of what was typed ("cuda" is "cuda:0"). Throws Error(unavailable) for a CUDA
/// device that is not there, with the reason, Error(argument) for any other name.
std::string named_device(const std::string& text);

}  // namespace tessera::cli
