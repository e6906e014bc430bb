// Does a result of a batch share memory with another one, or with an operand? Private to
// src/matmul.
#pragma once

#include <span>
#include <string_view>

#include "tessera/matmul/batch.hpp"

namespace tessera::detail {

/// Throws Error(argument) that names two matrices that may overlap, one of them a C, if there are
/// any; `call` begins the message. Each product has passed make_problem().
void refuse_overlaps(std::string_view call, std::span<const Product> products);

}  // namespace tessera::detail
