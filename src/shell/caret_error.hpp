// An error in an expression of the command line, shown with a caret below its position.
#pragma once

#include <string>

#include "tessera/layout/expression.hpp"

namespace tessera::shell {

struct CaretError : Error {
  CaretError(const ExpressionError& error, const std::string& text)
      : Error(error.category(), error.problem()), picture(caret(text, error.column())) {}
  std::string picture;  ///< two lines: the text, and ^ below the error
};

}  // namespace tessera::shell
