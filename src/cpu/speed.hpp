// How fast this core multiplies, for estimates of how long a product takes.
#pragma once

namespace tessera::cpu {

/// Multiply-adds of whole vectors of f32, of the instruction set in use, in 16 ns: 16 at least.
/// Measured in the first calls, which takes each of them a microsecond or two.
int vectors_in_16_ns();

/// One measurement of that.
int measured_vectors_in_16_ns();

}  // namespace tessera::cpu
