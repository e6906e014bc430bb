// What a learner's program may do: little memory, small files, and writing to no folder but its
// own. Private to src/puzzle.
#pragma once

namespace tessera::puzzle {

/// Was the cage closed? For the program, which links the cage by asking.
bool is_caged();

}  // namespace tessera::puzzle
