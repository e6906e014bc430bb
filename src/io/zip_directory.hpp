// The directory at the end of a zip archive, parsed without libzip: can libzip open the archive in
// linear time, and is a member where the directory says? Every archive is checked before libzip
// opens it.
#pragma once

#include <cstdint>
#include <string_view>

#include "input.hpp"

namespace tessera::io {

/// Refuses an archive that libzip would take more than linear time to open: names that collide in
/// its hash table, or a directory that is listed many times. libzip reports all other faults.
void refuse_slow_archive(const Input& input);

/// True if a header begins where the archive's directory says that member `index` begins.
bool local_header_is_there(std::string_view bytes, std::uint64_t index);

}  // namespace tessera::io
