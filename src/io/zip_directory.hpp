// The directory at the end of a zip archive, read from its bytes without libzip: whether the
// archive can be opened in linear time, and whether a member is where the directory says. Every
// archive that libzip opens is asked first.
#pragma once

#include <cstdint>
#include <string_view>

#include "input.hpp"

namespace tessera::io {

/// Refuses an archive that libzip would take more than linear time to open: names that collide in
/// its hash table, or a directory that is named many times. Anything else wrong is left to libzip.
void refuse_slow_archive(const Input& input);

/// Is there a header where the archive's directory says that member number `index` begins?
bool local_header_is_there(std::string_view bytes, std::uint64_t index);

}  // namespace tessera::io
