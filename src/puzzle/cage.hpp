// What a learner's program may do: little memory, small files, and writing to no folder but its
// own. Private to src/puzzle.
#pragma once

namespace tessera::puzzle {

/// The environment variable that names the folder. Where it is set the cage closes before the
/// program's own static objects are made.
inline constexpr const char* kFolderVariable = "TESSERA_PUZZLE_FOLDER";

/// Was the cage closed? For the program, which links the cage by asking.
bool is_caged();

}  // namespace tessera::puzzle
