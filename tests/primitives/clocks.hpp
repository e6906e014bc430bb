// What P10 and P11 measure, and what the models say.
#pragma once

namespace tessera::primitives {

/// Outer products in one round of a loop of P10.
inline constexpr int kOrderSteps = 8;

}  // namespace tessera::primitives
