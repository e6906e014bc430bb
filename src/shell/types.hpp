// The element types of a product as text: "f32", "bf16:f32", "u8:i8:i32".
#pragma once

#include <string>
#include <string_view>

#include "tessera/core/dtype.hpp"

namespace tessera::shell {

/// Element types: of A and C, and of B if it differs.
struct Types {
  DType in = DType::f32, out = DType::f32, in_b = in;
  bool operator==(const Types&) const = default;
};

/// The type of C where only that of A and B is given: the same, or that of the sums of bytes.
DType sums_of(DType in);
/// "f32", "bf16:f32", "u8:i8:i32"
std::string to_string(const Types& types);
/// Inverse of to_string. Throws Error(type).
Types parse_types(std::string_view text);
/// Throws Error(type) unless Tessera has a product of these types.
void require_product(const Types& types);

}  // namespace tessera::shell
