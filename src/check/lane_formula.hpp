// A formula of the lane, such as "lane % 8 * 33 + lane / 8". Private to src/check.
#pragma once

#include <string_view>

#include "tessera/core/config.hpp"

namespace tessera::check {

/// Does the word `lane` occur in it?
bool is_lane_formula(std::string_view text);

/// Its value for one lane. Throws ExpressionError.
index_t lane_formula(std::string_view text, index_t lane);

}  // namespace tessera::check
