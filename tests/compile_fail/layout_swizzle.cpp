// expect: a_swizzle_needs_0_to_31_bits_and_a_shift_of_at_least_bits
// expect: a_swizzle_needs_powers_of_two
// expect: a_swizzle_needs_elements_of_1_to_16_bytes
#include "tessera/layout/swizzle.hpp"

using namespace tessera;

constexpr Swizzle use_1(3, 0, 2);                                    // refused
constexpr Swizzle use_2 = make_swizzle(3, 64, 8);                    // refused
constexpr Swizzle use_3 = make_swizzle(SwizzleMode::bytes_128, 32);  // refused
