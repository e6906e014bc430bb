// Device names as users type them.
#pragma once

#include <string>

namespace tessera::cli {

/// What TESSERA_DEVICE says, else "cpu".
std::string default_device();
/// Turns what the user typed into "cpu", "cuda:N" or "opencl:N" ("cuda" is "cuda:0"). Throws
/// Error(unavailable) with the reason if there is no such device, Error(argument) for any other
/// name.
std::string named_device(const std::string& text);

}  // namespace tessera::cli
