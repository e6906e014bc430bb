// Intel Sapphire Rapids and its successors with 2 MiB of L2. Machine, dates and observations:
// bench/results/cpu/tuning.md. To measure again: tessera tune --device cpu.
#pragma once

#include "cpu/tuning.hpp"

namespace tessera::cpu {

/// Two 512-bit multiply-adds per cycle need B twice as fast as L3 delivers it, above all what
/// another core has written.
inline constexpr Tuning kSapphireRapids = {.name = "sapphire_rapids",
                                           .far_l3 = 1,
                                           .near_eighths = 5,
                                           .axpy_rows = 32,
                                           .b_part_eighths = 3,
                                           .panel_twelfths = 4,
                                           .in_place_alone = 4,
                                           .in_place_shared = 3,
                                           .dot_ahead_alone = 768,
                                           .dot_ahead = 256,
                                           .rows_together = 2,
                                           .alone_extent = 64};

}  // namespace tessera::cpu
