// The arithmetic of a product: what a caller asks for, what an algorithm states, and what the
// verifier chooses its bound by.
#pragma once

#include <cstdint>
#include <string_view>

namespace tessera {

enum class Arithmetic : std::uint8_t {
  chain,      ///< multiply-adds in the accumulator's type; f32 and f64: one chain in order of k
  lanes,      ///< the same, except for products in dot form: the order of cpu/lanes.hpp
  tf32,       ///< f32 inputs rounded to TF32 first, as matrix units do
  three_bf16  ///< each f32 input as three bf16, of whose nine products the six largest are summed
};

constexpr std::string_view name(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::chain   ? "chain"
         : arithmetic == Arithmetic::lanes ? "lanes"
         : arithmetic == Arithmetic::tf32  ? "tf32"
                                           : "three_bf16";
}

}  // namespace tessera
