// Layouts as text: "((2,2),(2,3)):((4,1),(2,8))", without blanks; a dynamic number prints as "?".
// `parse.hpp` reads it back.
#pragma once

#include <string>

#include "tessera/layout/composed.hpp"

namespace tessera {

/// "(2,(3,4))"
std::string to_string(const IntTuple& tuple);
/// "(2,(3,4)):(12,(4,1))"
std::string to_string(const Layout& layout);
/// "<3:3,(2,4):(1,8)>"
std::string to_string(const Tiler& tiler);
/// "swizzle(3,4,3)"
std::string to_string(const Swizzle& swizzle);
/// "composition(swizzle(3,4,3),(8,8):(8,1))"; "composed(outer,offset,inner)" in general.
std::string to_string(const ComposedLayout& layout);

}  // namespace tessera
