// The tuning that make_plan() looks at. Private to src/matmul.
#pragma once

#include <span>
#include <string_view>

#include "tuning.hpp"

namespace tessera::detail {

/// The tuning of "cpu" or "cuda:N", read at the first call; that of the CPU only where
/// TESSERA_TUNING names a file.
const ReadTuning& tuning_of(const std::string& device);

/// Of tables in the text of tuning files, that of the device with this name; empty where there is
/// none. Capability, driver and version do not matter: kernels and tiles that no longer exist are
/// passed over.
Tuning tuning_named(std::span<const std::string_view> tables, const std::string& device);
/// The one that the library ships for "cuda:N": shipped_tuning.inc.
const Tuning& shipped_tuning(const std::string& device);

}  // namespace tessera::detail
