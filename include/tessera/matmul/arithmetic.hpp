// The arithmetic that produced a result: stated by an algorithm, and used by the verifier to choose
// its bound.
#pragma once

#include <cstdint>

namespace tessera {

enum class Arithmetic : std::uint8_t {
  native,  ///< multiply-adds in the accumulator's type
  tf32     ///< f32 inputs rounded to TF32 first, as matrix units do
};

}  // namespace tessera
