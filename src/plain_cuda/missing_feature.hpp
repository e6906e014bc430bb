// Names of CUDA that a program uses and that are not offered: what they are and what to use
// instead.
#pragma once

#include <optional>
#include <string>

#include "compiler_said.hpp"

namespace tessera::plain_cuda {

struct MissingFeature {
  std::string name;      ///< as the program writes it
  std::string what;      ///< "a texture reference, which CUDA 12 has removed"
  std::string advice;    ///< what to use instead
  bool is_known = true;  ///< false: nothing but its name says that it is of CUDA
};

/// The feature whose absence this error of the compiler is about; nothing if it is about something
/// else.
std::optional<MissingFeature> missing_feature(const CompilerError& error);

}  // namespace tessera::plain_cuda
