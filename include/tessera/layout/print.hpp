// Layouts as text: "((2,2),(2,3)):((4,1),(2,8))", without blanks; a dynamic number prints as "?".
// `parse.hpp` reads it back.
#pragma once

#include <string>

#include "tessera/layout/layout.hpp"

namespace tessera {

/// "(2,(3,4))"
std::string to_string(const IntTuple& tuple);
/// "(2,(3,4)):(12,(4,1))"
std::string to_string(const Layout& layout);

}  // namespace tessera
