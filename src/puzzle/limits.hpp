// The limits of a learner's program: known to the command that starts it and to the program itself.
#pragma once

#include <cstdint>

namespace tessera::puzzle {

/// The environment variable that names the only folder to which the program may write. Where it is
/// set the limits hold before the program's own static objects are made.
inline constexpr const char* kFolderVariable = "TESSERA_PUZZLE_FOLDER";
/// What the program may write to one file, its output too.
inline constexpr std::uint64_t kMostFileBytes = 8 << 20;

}  // namespace tessera::puzzle
