// The products of product_types.hpp in words, for messages.
#pragma once

#include <string>

namespace tessera::detail {

/// "f32 into f32, f16 or bf16; ...; A and B may also be i8 and u8": every product.
std::string products_text();
/// "f32, f16, ... or u8": the types of A and B that the packed path multiplies.
std::string packed_operands_text();

}  // namespace tessera::detail
