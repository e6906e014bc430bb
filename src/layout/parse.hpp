// Reads what print.hpp writes: parse_layout("((2,2),3):((1,2),4)"). Any expression that gives the
// wanted kind of value is taken, "row_major(4,8)" too. Throws ExpressionError.
#pragma once

#include <string>
#include <string_view>

#include "tessera/layout/composed.hpp"

namespace tessera {

/// A layout.
Layout parse_layout(std::string_view text);
/// A number or a tuple, "(2,(3,4))".
IntTuple parse_tuple(std::string_view text);
/// "2,2" as "(2,2)"; a text in brackets as it is.
std::string bracketed(std::string_view text);
/// Three numbers, "3,0,3" or "(3,0,3)": BITS,BASE,SHIFT.
Swizzle parse_swizzle(std::string_view text);
/// A tiler, "<2:1,4:1>". A layout is a tiler for one mode, a tuple (2,4) means <2:1,4:1>.
Tiler parse_tiler(std::string_view text);
/// A layout or composed layout, as a composed layout.
ComposedLayout parse_composed(std::string_view text);

}  // namespace tessera
