// Messages with exactly one reason, alone or together with a name in the line: a table.
#include <regex>

#include "error_reasons.hpp"

namespace tessera::course {

namespace {

/// A message, or a line and a message, with exactly one reason.
struct Known {
  const char* message;
  std::string_view line, cause, why, advice;
};
constexpr Known kKnown[] = {
    {"has no initializer|requires an initializer", "auto", "auto-without-value",
     "auto takes its type from a first value, and there is none", "float sum = 0; or int i = 0;"},
    {"is not captured|no capture-default", "", "capture",
     "a lambda with [] captures nothing of the code around it", "[&] { ... }"},
    {"unary '\\*'|requires pointer operand", "*", "power",
     "** is Python's power, which C++ does not have", "x * x * x"},
    {"operator\\^|invalid operands to binary expression", "^", "power",
     "^ is not a power but the exclusive or of the bits of whole numbers", "x * x * x"},
    {"return-statement with a value|should not return a value", "", "stores",
     "a kernel returns nothing: it stores its results in the output",
     "out(i) = ...; without return"},
    {"expected initializer before '=='", "", "sign", "== compares; = gives a first value", "="},
    {"cannot resolve address of overloaded function", "wait", "no-brackets",
     "wait<0> is a function: its brackets are missing", "wait<0>(t)"},
    {"before '\\]' token", "[", "index", "there is nothing between [ and ]", "name[i]"},
    {"'tile<[^']*' does not name a type", "tile", "other-case",
     "tile is a function, and the type is Tile", "Tile<float, rows, columns> name;"},
    {"no.such.mode", "extent", "refused", "there is no such mode",
     "extent<0>(A), the number of its rows; extent<1>(A), of its columns"},
    {"array must be initialized|array initializer must be", "", "array-values",
     "an array takes its first values in braces", "float sum[n] = {};"},
    {"assignment of 'float\\*?( \\[\\d+\\])?' to 'float \\[", "", "whole-array",
     "a whole row of an array is used where one number is stored",
     "as many indices as in its declaration: name[i][j]"},
    {"lvalue required as left operand|cannot assign to return value", "copy_async", "copy-order",
     "this copy writes to an input, which can only be read",
     "copy_async(t, what is copied, where to): tile<T, T>(A, i, k), s.a.view()"},
    {"lvalue required as left operand|cannot assign to return value", "copy", "copy-order",
     "this copy writes to an input, which can only be read",
     "copy(t, what is copied, where to): copy(t, tile<T, T>(A, i, k), s.a.view())"},
    {"lvalue required as left operand|cannot assign to return value", "copy_vectorized",
     "copy-order", "this copy writes to an input, which can only be read",
     "copy_vectorized<4>(t, what is copied, where to): tile<T, T>(A, i, k), s.a.view()"},
    {"no return statement|non-void function does not return", "", "no-return",
     "the function returns nothing", "return ...;"},
    {"no match for 'operator=' .*'void'|void value not ignored|incompatible type 'void'|no viable "
     "overloaded '='",
     "mma", "returns-nothing", "mma returns nothing: it adds to its second argument",
     "Mma::mma(t, sum, a, b);"},
    {"convert|no viable conversion", "load_a", "fragment",
     "what load_a and load_b give is held by auto", "const auto a = ..."},
    {"convert|no viable conversion", "load_b", "fragment",
     "what load_a and load_b give is held by auto", "const auto b = ..."},
    {"type/value mismatch|must be a type|expected a type", "Tile", "type-first",
     "the type of the elements comes first", "Tile<float, rows, columns> name;"},
    {"expected initializer before '[-+*/]='", "", "adds-to-new",
     "a variable that is only now declared has no value that something could be added to",
     "leave the type out, if the one above is meant"},
    {"no matching function for call to '(tessera::)?zeros", "", "local-array",
     "numbers of a thread's own are an array", "float name[n] = {};"},
    {"operator='.*'(float|double|int) \\[", "", "whole-array",
     "a whole array is used where one number is stored", "name[i]: one of its elements"},
    {"operator='.*Tile<.*Tensor<", "", "whole-tile",
     "a tile is not assigned: all threads of the block copy it together",
     "copy(t, tile<rows, columns>(A, i, k), s.a.view())"},
    {"request for member .* non-class type '[^']*\\[|member reference base type '[^']*\\[", ".",
     "array-member", "an array of C++ has elements and no members", "name[i] = ...;"},
    {"expected ':' before", "?", "no-colon", "the : of this ? is missing",
     "condition ? this : that"},
    {"is not a class, namespace|base operand of '->'|member reference type .* is not a pointer",
     "t", "dot", "the members of t follow a point", "t.thread.x, t.barrier()"},
    {"(call to '\\(|types are ')(const )?(tessera::)?Position\\b", "", "no-such-member",
     "a position has x, y and z", "t.thread.x counts columns, t.thread.y counts rows"},
    {"a_swizzle_needs", "Swizzle", "swizzle", "such a Swizzle does not exist",
     "bits may be at most shift, and both at most 31"},
    {"could not convert .*brace-enclosed.* to '(const )?(tessera::)?Layout", "", "tuple",
     "a layout is made of two tuples, the extents and the strides",
     "Layout name(tuple(rows, columns), tuple(...));"},
    {"shape_and_stride_must_nest_alike", "", "nesting",
     "shape and strides of a layout must nest alike",
     "as many tuples, with as many numbers each, in both"},
};

}  // namespace

ErrorReason reason_of_known_message(const CompilerSays& error, const LearnersText& text) {
  for (const Known& each : kKnown) {
    const bool is_line = each.line.empty() || text.line_has(each.line, error.line);
    if (is_line && std::regex_search(error.message, std::regex(each.message)))
      return {std::string(each.cause), std::string(each.why), std::string(each.advice)};
  }
  return {};
}

}  // namespace tessera::course
