// nvcc finds out that `cast` in `Vector<T>::cast<4>(x)` is a template; C++ must be told.
#pragma once

#include "lexer.hpp"
#include "placed_text.hpp"

namespace tessera::plain_cuda {

/// Inserts `template` before the name of such a call, in functions of the user's files.
void name_templates(const Tokens& tokens, PlacedText& out);

}  // namespace tessera::plain_cuda
