// Hints and advice speak the words of Tessera's language; those for plain CUDA are translated.
// Private to src/check.
#pragma once

#include <string>

namespace tessera::check {

/// A hint of a finding, or a remedy of explain, in the words of CUDA.
std::string in_cuda(std::string text);

}  // namespace tessera::check
