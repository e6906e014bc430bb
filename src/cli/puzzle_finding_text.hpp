// Findings in the learner's words: s.b instead of a tile at byte 36, and elements by their tensor.
#pragma once

#include "puzzle_program.hpp"

namespace tessera::cli {

void name_elements(PuzzleAttempt& attempt);

}  // namespace tessera::cli
