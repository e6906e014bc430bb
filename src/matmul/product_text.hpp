// The products of product_types.hpp in words, for messages.
#pragma once

#include <string>

#include "tessera/core/dtype.hpp"

namespace tessera::detail {

/// "f32 into f32, f16 or bf16; f64 into f64": the products that `has` is true of.
std::string products_text(bool (*has)(DType in, DType out));
/// "...; A and B may also be i8 and u8": every product.
std::string every_product_text();
/// "f32, f16, ... or u8": the types of A and B that the packed path multiplies.
std::string packed_operands_text();

}  // namespace tessera::detail
