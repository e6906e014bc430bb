// AMD Zen 4. Measured on an EPYC (family 25), 2026-11-21 to 25: bench/results/cpu/tuning.md. Again:
// tessera tune --device cpu.
#pragma once

#include "cpu/tuning.hpp"

namespace tessera::cpu {

/// L3 delivers B nearly as fast as L2; L1 is too small for the hardware to prefetch far ahead.
inline constexpr Tuning kZen4 = {.name = "zen4",
                                 .near_eighths = 128,
                                 .near_one_row = 10,
                                 .near_few_rows = 12,
                                 .near_many_rows = 12,
                                 .axpy_rows = 12,
                                 .b_part_eighths = 24,
                                 .panel_twelfths = 15,
                                 .in_place_alone = 28,
                                 .in_place_shared = 28,
                                 .dot_ahead_alone = 1024,
                                 .dot_ahead = 1024,
                                 .prefetches_in_order = 1};

}  // namespace tessera::cpu
