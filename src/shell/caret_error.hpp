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

/// Runs `read` on a part of the command line; reports an error in it with a caret and exit code 2.
template <class Read>
auto with_caret(const std::string& text, Read&& read) {
  try {
    return read(text);
  } catch (const ExpressionError& error) {
    throw CaretError(error, text);
  }
}

}  // namespace tessera::shell
