// The name that a learner's file gives to a number of the launch: M, SIZE or TPB instead of 9.
#pragma once

#include <string>

#include "program.hpp"

namespace tessera::course {

/// For an extent of a tensor: defined by `extent<mode>(tensor)`, for this tensor or one of the same
/// extent, or a constant of that value; the number itself if the file has no name for it, or
/// several.
std::string extent_name(const PuzzleAttempt& attempt, const PuzzleCase& c,
                        const std::string& tensor, std::size_t mode, index_t extent);
/// For the block's threads along x (0) or y (1), as the kernel declares them.
std::string block_name(const PuzzleAttempt& attempt, const PuzzleCase& c, std::size_t mode);
/// For any number, if one constant has this value.
std::string constant_name(const PuzzleAttempt& attempt, index_t value);

}  // namespace tessera::course
