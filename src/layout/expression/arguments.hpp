// The values a function, a call or a bracket of an expression was given, taken by kind. A value of
// the wrong kind is an ExpressionError at its own place: the caret points at the argument, not at
// the function. Used by the reader (expression.cpp)
// and by the functions (functions.cpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tessera/core/text.hpp"
#include "tessera/layout/algebra.hpp"
#include "tessera/layout/expression.hpp"

namespace tessera::expression {

constexpr std::size_t kMaxArguments = 16;

inline std::string_view kind_of(const LayoutValue& value) {
  constexpr std::string_view kNames[] = {"a number", "a tuple",   "a layout",
                                         "a tiler",  "a swizzle", "a composed layout"};
  return kNames[value.index()];
}

struct Argument {
  LayoutValue value;
  std::size_t column;
};

/// (2,4) as <2:1,4:1>.
inline Tiler tiler_of(const IntTuple& tuple, std::size_t column) {
  LayoutBuilder modes;
  for (int m = 0; m < tuple.rank(); ++m) {
    if (!tuple.mode(m).is_leaf())
      throw ExpressionError(cat("a tiler is needed here, not the nested tuple ", tuple), column);
    modes.push(Layout(tuple.mode(m)));
  }
  return Tiler(modes.done(), tuple.rank());
}

/// The arguments of a call, taken by kind; a wrong kind is an error at its place.
class Arguments {
 public:
  Arguments(std::string_view usage, std::vector<Argument> list, std::size_t end)
      : usage_(usage), list_(std::move(list)), end_(end) {}

  std::size_t size() const { return list_.size(); }

  void expect(std::size_t least, std::size_t most) const {
    if (list_.size() < least)
      throw ExpressionError(cat(usage_, " needs ", least == most ? "" : "at least ", least,
                                least == 1 ? " argument" : " arguments", ", got ", list_.size()),
                            end_);
    if (list_.size() > most)
      throw ExpressionError(cat(usage_, " takes ", least == most ? "" : "at most ", most,
                                most == 1 ? " argument" : " arguments", ", got ", list_.size()),
                            list_[most].column);
  }

  const LayoutValue& value(std::size_t i) const { return list_[i].value; }
  template <class T>
  const T* get_if(std::size_t i) const {
    return std::get_if<T>(&list_[i].value);
  }
  [[noreturn]] void wrong(std::size_t i, std::string_view wanted) const {
    const LayoutValue& value = list_[i].value;
    std::string text = cat(wanted, " is needed here; ", to_string(value), " is ", kind_of(value));
    if (wanted == "a layout" && (get_if<index_t>(i) || get_if<IntTuple>(i)))
      text += "; write a stride, as in 4:1, or col_major(...)";
    throw ExpressionError(std::move(text), list_[i].column);
  }
  index_t number(std::size_t i) const {
    if (const auto* n = get_if<index_t>(i)) return *n;
    wrong(i, "a number");
  }
  int small_number(std::size_t i) const {
    const index_t n = number(i);
    if (n < -1000 || n > 1000)
      throw ExpressionError(cat(n, " is out of range here"), list_[i].column);
    return static_cast<int>(n);
  }
  index_t count(std::size_t i) const {
    const index_t n = number(i);
    if (n < 0 && n != dynamic)
      throw ExpressionError(cat("a number of 0 or more is needed here, not ", n), list_[i].column);
    return n;
  }
  IntTuple tuple(std::size_t i) const {
    if (const auto* n = get_if<index_t>(i)) return IntTuple(*n);
    if (const auto* t = get_if<IntTuple>(i)) return *t;
    wrong(i, "a tuple");
  }
  const Layout& layout(std::size_t i) const {
    if (const auto* l = get_if<Layout>(i)) return *l;
    wrong(i, "a layout");
  }
  Tiler tiler(std::size_t i) const {
    if (const auto* t = get_if<Tiler>(i)) return *t;
    if (const auto* t = get_if<IntTuple>(i)) return tiler_of(*t, list_[i].column);
    wrong(i, "a layout or a tiler");
  }
  /// The arguments as a shape; a single tuple is the shape itself.
  IntTuple shape_of_all() const { return list_.size() == 1 ? tuple(0) : tuple_of_all(); }
  IntTuple tuple_of_all() const {
    TupleBuilder all;
    for (std::size_t i = 0; i < list_.size(); ++i) all.push(tuple(i));
    return all.done();
  }

 private:
  std::string_view usage_;
  std::vector<Argument> list_;
  std::size_t end_;
};
/// A number where the tuple is one.
inline LayoutValue plain(const IntTuple& t) {
  if (t.is_leaf()) return t.value();
  return t;
}

}  // namespace tessera::expression
