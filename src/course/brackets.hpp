// A bracket, brace or quote without its other one: a compiler that meets one reads on to the end of
// the file, and what it says then is of another place.
#pragma once

#include <string>

#include "tokens.hpp"

namespace tessera::course {

struct BracketFault {
  int line = 0, column = 0;  ///< its position, or that of the one without a partner; 0: nowhere
  std::string says;          ///< "a ( is never closed"
  std::string advice;
};

/// The first one that is wrong. Of braces it is a guess from how lines are indented.
BracketFault wrong_bracket(const SourceTokens& tokens);

}  // namespace tessera::course
