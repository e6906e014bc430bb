// What a learner's file calls a number of the launch: M, SIZE or TPB instead of 9.
#pragma once

#include <string>

#include "program.hpp"

namespace tessera::course {

/// Of an extent of a tensor: by `extent<mode>(tensor)`, that of a tensor of the same extent, or a
/// constant of that number; the number itself where the file has no name for it, or several.
std::string extent_name(const PuzzleAttempt& attempt, const PuzzleCase& c,
                        const std::string& tensor, std::size_t mode, index_t extent);
/// Of the block's threads along x (0) or y (1), as the kernel declares them.
std::string block_name(const PuzzleAttempt& attempt, const PuzzleCase& c, std::size_t mode);
/// Of any number, if one constant has it.
std::string constant_name(const PuzzleAttempt& attempt, index_t value);

}  // namespace tessera::course
