// Contracts: what a caller must keep, checked where TESSERA_CONTRACTS is on (core/config.hpp: as
// assert(), unless NDEBUG is defined), and gone where it is off and on a GPU. What users may get
// wrong at a cheap place is checked always, by other means (tensor/refused.hpp).
#pragma once

#include "tessera/core/config.hpp"

namespace tessera::contract {

/// Are contracts checked in this file? Ask it with `if constexpr` around what costs time.
#if defined(__CUDA_ARCH__)
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
