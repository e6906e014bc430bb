// Hints and advice use the terms of Tessera's language; this translates those for plain CUDA.
// Private to src/check.
#pragma once

#include <string>

namespace tessera::check {

/// A hint of a finding, or an advice of explain, in the terms of CUDA.
std::string in_cuda(std::string text);

}  // namespace tessera::check
