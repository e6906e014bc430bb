// Finds an unmatched bracket, brace or quote. A compiler reads past it to the end of the file and
// reports an error in another place.
#pragma once

#include <string>

#include "tokens.hpp"

namespace tessera::course {

struct BracketFault {
  int line = 0, column = 0;  ///< its position, or that of the unmatched one; 0: unknown
  std::string says;          ///< "a ( is never closed"
  std::string advice;
};

/// The first error. For braces it is a guess from the indentation.
BracketFault wrong_bracket(const SourceTokens& tokens);

}  // namespace tessera::course
