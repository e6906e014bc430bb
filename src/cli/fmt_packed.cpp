// What the command needs of fmt, for a packed program (cmake/packed.cmake): distributions ship fmt
// as a shared library and as headers, not as a static library. All other files are compiled for the
// shared one; this one for the headers alone, where the same function is written out.
#include <fmt/format.h>

namespace tessera::cli {

/// Because its address is taken the compiler leaves the function for the linker to find.
extern std::string (*const kVformat)(fmt::string_view, fmt::format_args);
std::string (*const kVformat)(fmt::string_view, fmt::format_args) = &fmt::vformat;

}  // namespace tessera::cli
