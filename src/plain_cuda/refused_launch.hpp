// Why the compiler refuses the launch of --launch, in terms of the text of --launch.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "compiler_said.hpp"
#include "tessera/core/error.hpp"

namespace tessera::plain_cuda {

/// The error of `launch` (--launch) that the compiler's errors are about; nothing if they are about
/// the file. `preprocessed`: the file with the launch.
std::optional<Error> refused_launch(std::string_view launch, std::string_view preprocessed,
                                    const std::vector<CompilerError>& errors);

}  // namespace tessera::plain_cuda
