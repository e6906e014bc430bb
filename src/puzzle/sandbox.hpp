// The sandbox of a learner's program: little memory, small files, and writing to its own folder
// only. Private to src/puzzle.
#pragma once

namespace tessera::puzzle {

/// Is the sandbox active? The program calls this, which links it in.
bool is_sandboxed();

}  // namespace tessera::puzzle
