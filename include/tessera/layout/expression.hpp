// The layout algebra as text: "logical_divide((8,8):(8,1),<2:1,4:1>)" is evaluated to a layout, a
// number, a tuple, a tiler or a swizzle, and every value prints as text that evaluates to itself.
// `tessera layout` and the Python module use it. Takes bounded time for any text.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tessera/core/error.hpp"
#include "tessera/layout/composed.hpp"
#include "tessera/layout/print.hpp"

namespace tessera {

/// What an expression can be. A dynamic number is written "?".
using LayoutValue = std::variant<index_t, IntTuple, Layout, Tiler, Swizzle, ComposedLayout>;

/// An expression that cannot be parsed or evaluated, with the column of the mistake.
class ExpressionError : public Error {
 public:
  /// `text`: what was read, for the message; a caller that shows it with a caret leaves it out.
  ExpressionError(std::string problem, std::size_t column, std::string text = {})
      : Error(Category::argument, std::move(problem), {}, std::move(text)), column_(column) {}
  /// The place of the mistake, counted in bytes from 0; at most the length of the text.
  std::size_t column() const noexcept { return column_; }

 private:
  std::size_t column_;
};

/// Reads and evaluates. Throws ExpressionError.
LayoutValue eval_expression(std::string_view text);

/// A layout or composed layout, as a composed layout. Throws ExpressionError for other values of
/// `text`.
ComposedLayout composed_of(const LayoutValue& value, std::string_view text);

/// "(4,2):(2,1)", "8", "<3:3,(2,4):(1,8)>": no blanks.
std::string to_string(const LayoutValue& value);

/// Two lines: the text, and ^ under the column. Control characters show as blanks.
std::string caret(std::string_view text, std::size_t column);

/// A function of the language, for help texts: "composition(a,b)" and what it gives.
struct ExpressionFunction {
  std::string_view usage, meaning;
};
std::vector<ExpressionFunction> expression_functions();

}  // namespace tessera
