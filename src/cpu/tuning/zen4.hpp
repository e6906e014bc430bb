// AMD Zen 4. Machine, dates and observations: bench/results/cpu/tuning.md. To
// measure again: tessera tune --device cpu.
#pragma once

#include "cpu/tuning.hpp"

namespace tessera::cpu {

/// L3 delivers B nearly as fast as L2; less of it serves one core than on Zen 5.
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
                                 .prefetches_in_order = 1,
                                 .rows_together = 4};

}  // namespace tessera::cpu
