// The tuning that make_plan() looks at. Private to src/matmul.
#pragma once

#include "tessera/matmul/tuning.hpp"

namespace tessera::detail {

/// The tuning of "cpu" or "cuda:N", read at the first call; that of the CPU only where
/// TESSERA_TUNING
/// names a file.
const ReadTuning& tuning_of(const std::string& device);

}  // namespace tessera::detail
