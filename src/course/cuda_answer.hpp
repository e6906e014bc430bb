// Answers in plain CUDA as programs: the spec's program, in which the kernels are declarations
// only, and one with the learners' kernels, which it starts for each launch
// (puzzle/cuda_launch.hpp).
#pragma once

#include <string>
#include <vector>

#include "program.hpp"

namespace tessera::course {

/// The puzzle's own solution in Tessera's language, for the spec: what its kernels do is left out.
std::string declarations_for(const Puzzle& puzzle);
/// The program with the kernels, each try in a namespace of its name.
std::string cuda_program_of(const std::vector<PuzzleTry>& tries);
/// The kernels of a text: `__global__ void NAME(`.
std::vector<std::string> kernels_of(const std::string& source);

}  // namespace tessera::course
