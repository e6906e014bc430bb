// Device names as users type them.
#pragma once

#include <string>
#include <string_view>

namespace tessera::shell {

/// What TESSERA_DEVICE says, else "cpu".
std::string default_device();
/// Turns what the user typed into "cpu", "cuda:N" or "opencl:N" ("CUDA" is "cuda:0"). Throws
/// Error(unavailable) with the reason if there is no such device, Error(argument) for any other
/// name; `advice` is what to do without a GPU.
std::string named_device(const std::string& text,
                         std::string_view advice = "use --device cpu, or see 'tessera doctor'");

/// After OpenCL devices were listed: a driver's crash ends the command with one line and code 4.
void drivers_may_crash();

}  // namespace tessera::shell
