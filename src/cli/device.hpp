// Device names as users type them.
#pragma once

#include <string>

namespace tessera::cli {

/// "cpu". Throws Error(unavailable) for a CUDA device that is not there, Error(argument) for any
/// other name.
std::string named_device(const std::string& text);

}  // namespace tessera::cli
