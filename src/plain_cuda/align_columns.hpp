// Preprocessors move what follows a macro in its line, and join blanks: this restores the columns.
#pragma once

#include "lexer.hpp"
#include "rewrite.hpp"

namespace tessera::plain_cuda {

/// Sets the column of each token of the user's files to that in the original text, if its line has
/// the token; tokens of a macro get the column where the macro is used.
void align_columns(Tokens& tokens, const Originals& originals);

}  // namespace tessera::plain_cuda
