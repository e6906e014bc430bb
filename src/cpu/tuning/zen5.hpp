// AMD Zen 5. Machine, dates and observations: bench/results/cpu/tuning.md. To
// measure again: tessera tune --device cpu.
#pragma once

#include "cpu/tuning.hpp"

namespace tessera::cpu {

/// As Zen 4, with a larger L1, and more of L3 for one core.
inline constexpr Tuning kZen5 = {.name = "zen5",
                                 .near_eighths = 128,
                                 .axpy_rows = 12,
                                 .b_part_eighths = 24,
                                 .panel_twelfths = 15,
                                 .in_place_alone = 28,
                                 .in_place_shared = 28,
                                 .dot_ahead_alone = 768,
                                 .dot_ahead = 256,
                                 .rows_together = 1};

}  // namespace tessera::cpu
