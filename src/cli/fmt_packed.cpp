// The functions of fmt that a packed program (cmake/packed.cmake) needs. Distributions ship fmt as
// a shared library and as headers, not as a static library. All other files are compiled for the
// shared library; this one uses the headers alone, which define the same functions.
#include <fmt/format.h>

namespace tessera::cli {

/// Taking its address makes the compiler emit the function, so that the linker finds it.
extern std::string (*const kVformat)(fmt::string_view, fmt::format_args);
std::string (*const kVformat)(fmt::string_view, fmt::format_args) = &fmt::vformat;

}  // namespace tessera::cli
