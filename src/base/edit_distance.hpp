// How far a misspelt name is from a known one, for "did you mean": algorithms, functions of the
// layout algebra, commands, options.
#pragma once

#include <string_view>

namespace tessera {

/// Edits (insert, delete, replace, swap of neighbours) between two words, case ignored.
int edit_distance(std::string_view a, std::string_view b);

}  // namespace tessera
