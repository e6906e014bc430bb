// Contracts: preconditions that are checked where TESSERA_CONTRACTS is on (core/config.hpp: like
// assert(), unless NDEBUG is defined) and compiled away elsewhere and on a GPU. Cheap checks of
// users' arguments are always on (tensor/refused.hpp).
#pragma once

#include "tessera/core/config.hpp"

namespace tessera::contract {

/// Are contracts checked in this file? Use it with `if constexpr` around expensive checks.
#if TESSERA_GPU_CODE
constexpr bool kChecked = false;
#else
constexpr bool kChecked = TESSERA_CONTRACTS != 0;
#endif

/// Calls refuse(), which throws, unless `holds`.
template <class Refuse>
TESSERA_HD constexpr void require([[maybe_unused]] bool holds,
                                  [[maybe_unused]] const Refuse& refuse) {
  if constexpr (kChecked) {
    if (!holds) refuse();
  }
}

}  // namespace tessera::contract
