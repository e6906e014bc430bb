// The directory at the end of a zip archive, read without libzip: whether libzip can open the
// archive in linear time, and whether a member is where the directory says. Runs before libzip
// opens any archive.
#pragma once

#include <cstdint>
#include <string_view>

#include "input.hpp"

namespace tessera::io {

/// Refuses an archive that libzip would need more than linear time to open: names that collide in
/// its hash table, or a directory that is named many times. libzip reports all other defects.
void refuse_slow_archive(const Input& input);

/// Is there a header where the archive's directory says that member number `index` begins?
bool local_header_is_there(std::string_view bytes, std::uint64_t index);

}  // namespace tessera::io
