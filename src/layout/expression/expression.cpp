// One recursive-descent reader that evaluates as it goes, and knows the column of whatever it
// refuses. The functions it calls are a table, functions.cpp.
//
//   expression := primary [':' primary] { '(' arguments ')' }
//   primary    := number | '?' | '(' expressions ')' | '<' expressions '>' | name '(' arguments ')'
#include "tessera/layout/expression.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "functions.hpp"
#include "layout/parse.hpp"
#include "tessera/core/text.hpp"
#include "tessera/layout/algebra.hpp"

namespace tessera {

namespace {

using namespace expression;

constexpr int kMaxNesting = 48;

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// What was read, in one line for a message; the middle of a long text is left out.
std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 60;
  std::string out(text);
  if (out.size() > 2 * kShown) out.replace(kShown, out.size() - 2 * kShown, "...");
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return cat("'", out, "'");
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  LayoutValue whole() {
    Argument result = expression();
    skip_blanks();
    if (at_ < text_.size()) {
      if (text_[at_] == ':')
        fail("a shape and its stride are numbers or tuples, and ':' comes once");
      fail(cat("nothing more is expected after ", kind_of(result.value)));
    }
    return std::move(result.value);
  }

 private:
  [[noreturn]] void fail(std::string problem) const { fail_at(at_, std::move(problem)); }
  [[noreturn]] static void fail_at(std::size_t column, std::string problem) {
    throw ExpressionError(std::move(problem), column);
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n'))
      ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  /// Calls the algebra; its errors become errors at `column`.
  template <class F>
  static LayoutValue guarded(std::size_t column, F&& f) {
    try {
      return f();
    } catch (const ExpressionError&) {
      throw;
    } catch (const Error& error) {
      fail_at(column, error.what());
    }
  }

  Argument expression() {
    if (++nesting_ > kMaxNesting) fail("brackets and calls nest too deeply here");
    Argument left = primary();
    if (take(':')) {
      skip_blanks();
      const Argument right = primary();
      const IntTuple* shape = std::get_if<IntTuple>(&left.value);
      const IntTuple* stride = std::get_if<IntTuple>(&right.value);
      const index_t* shape_number = std::get_if<index_t>(&left.value);
      const index_t* stride_number = std::get_if<index_t>(&right.value);
      if (!shape && !shape_number)
        fail_at(left.column, cat("a shape is a number or a tuple, not ", kind_of(left.value)));
      if (!stride && !stride_number)
        fail_at(right.column, cat("a stride is a number or a tuple, not ", kind_of(right.value)));
      const IntTuple s = shape ? *shape : IntTuple(*shape_number);
      const IntTuple d = stride ? *stride : IntTuple(*stride_number);
      if (!congruent(s, d))
        fail_at(right.column, cat("shape ", s, " and stride ", d,
                                  " nest differently; give one stride for each extent"));
      left.value = guarded(left.column, [&] { return Layout(s, d); });
    }
    while (take('(')) {
      const std::size_t column = at_ - 1;
      left.value = call(left, column);
    }
    --nesting_;
    return left;
  }

  /// a(i,j,...): the index of a coordinate.
  LayoutValue call(const Argument& function, std::size_t column) {
    std::vector<Argument> given = list(')');
    const Arguments arguments("a layout", std::move(given), at_ - 1);
    if (!std::holds_alternative<Layout>(function.value) &&
        !std::holds_alternative<ComposedLayout>(function.value) &&
        !std::holds_alternative<Swizzle>(function.value))
      fail_at(column, cat(kind_of(function.value), " cannot be called"));
    arguments.expect(1, kMaxArguments);
    return guarded(column, [&]() -> LayoutValue {
      const IntTuple coordinate = arguments.shape_of_all();
      if (const auto* layout = std::get_if<Layout>(&function.value))
        return index(*layout, coordinate, arguments.size());
      if (const auto* c = std::get_if<ComposedLayout>(&function.value)) {
        const index_t inner = index(c->inner, coordinate, arguments.size());
        const index_t at = checked_add(c->offset, inner);
        if (at == dynamic) return dynamic;
        return c->swizzled ? c->swizzle(at) : crd2idx(IntTuple(at), c->outer);
      }
      const index_t at = coordinate.value();
      return at == dynamic ? dynamic : std::get<Swizzle>(function.value)(at);
    });
  }

  static index_t index(const Layout& layout, const IntTuple& coordinate, std::size_t given) {
    if (given > 1 && static_cast<int>(given) != layout.rank())
      refused::the_number_of_coordinates_must_be_one_or_the_rank(layout,
                                                                 static_cast<index_t>(given));
    if (!coordinate.is_static()) return dynamic;
    return crd2idx(coordinate, layout);
  }

  Argument primary() {
    skip_blanks();
    const std::size_t start = at_;
    if (at_ == text_.size()) fail("a layout, number or function is missing here");
    const char c = text_[at_];
    if (is_digit(c) || c == '-') return {number(), start};
    if (c == '?') {
      ++at_;
      return {dynamic, start};
    }
    if (c == '(') {
      ++at_;
      return {bracket(start), start};
    }
    if (c == '<') {
      ++at_;
      return {angle(start), start};
    }
    if (is_name_char(c)) return {function(), start};
    fail("a layout, number or function is expected here");
  }

  index_t number() {
    const std::size_t start = at_;
    const bool negative = text_[at_] == '-';
    if (negative) ++at_;
    if (at_ == text_.size() || !is_digit(text_[at_])) fail("a digit is expected after '-'");
    index_t value = 0;
    for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
      const index_t digit = text_[at_] - '0';
      if (value > (std::numeric_limits<index_t>::max() - 1 - digit) / 10)
        fail_at(start, "this number does not fit in 64 bits");
      value = value * 10 + digit;
    }
    if (at_ < text_.size() && is_name_char(text_[at_])) fail("a number ends before a letter");
    return negative ? -value : value;
  }

  /// The expressions up to the closing bracket.
  std::vector<Argument> list(char close) {
    const std::size_t open = at_ - 1;
    std::vector<Argument> out;
    if (take(close)) return out;
    for (;;) {
      if (out.size() == kMaxArguments) fail(cat("at most ", kMaxArguments, " are allowed here"));
      out.push_back(expression());
      if (take(close)) return out;
      if (!take(',')) {
        if (at_ == text_.size()) fail_at(open, "this bracket is never closed");
        fail(cat("',' or '", close, "' is expected here"));
      }
    }
  }

  LayoutValue bracket(std::size_t start) {
    std::vector<Argument> parts = list(')');
    if (parts.empty()) fail_at(start, "an empty tuple has no meaning here");
    if (parts.size() == 1 && parts[0].value.index() > 1) return std::move(parts[0].value);
    const Arguments arguments("a tuple", std::move(parts), at_ - 1);
    return guarded(start, [&] { return plain(arguments.tuple_of_all()); });
  }

  LayoutValue angle(std::size_t start) {
    std::vector<Argument> given = list('>');
    const Arguments parts("a tiler", std::move(given), at_ - 1);
    if (parts.size() == 0) fail_at(start, "a tiler has at least one layout, as in <4:1>");
    return guarded(start, [&]() -> LayoutValue {
      LayoutBuilder modes;
      for (std::size_t i = 0; i < parts.size(); ++i)
        modes.push(parts.get_if<index_t>(i) ? Layout(parts.number(i)) : parts.layout(i));
      return Tiler(parts.size() == 1
                       ? (parts.get_if<index_t>(0) ? Layout(parts.number(0)) : parts.layout(0))
                       : modes.done(),
                   static_cast<int>(parts.size()));
    });
  }

  LayoutValue function() {
    const std::size_t start = at_;
    while (at_ < text_.size() && is_name_char(text_[at_])) ++at_;
    const std::string_view name = text_.substr(start, at_ - start);
    const Function* found = find_function(name);
    if (!found) fail_at(start, unknown_function(name));
    if (!take('(')) fail(cat("'(' is expected after ", name, ", as in ", found->usage));
    std::vector<Argument> given = list(')');
    const Arguments arguments(found->usage, std::move(given), at_ - 1);
    arguments.expect(found->least, found->most);
    try {
      return found->call(arguments);
    } catch (const ExpressionError&) {
      throw;
    } catch (const Error& error) {
      std::string_view why = error.what();
      if (why.starts_with("layout: ")) why.remove_prefix(8);
      if (why.starts_with(name)) fail_at(start, std::string(why));
      fail_at(start, cat(name, ": ", why));
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int nesting_ = 0;
};

}  // namespace

LayoutValue eval_expression(std::string_view text) {
  try {
    return Reader(text).whole();
  } catch (const ExpressionError& error) {
    throw ExpressionError(error.problem(), error.column(), quoted(text));
  }
}

std::string to_string(const LayoutValue& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, index_t>)
          return to_string(IntTuple(v));
        else return to_string(v);
      },
      value);
}

std::string caret(std::string_view text, std::size_t column) {
  std::string out(text);
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  // Continuation bytes of UTF-8 take no column.
  std::size_t width = 0;
  for (std::size_t i = 0; i < column && i < text.size(); ++i)
    width += (static_cast<unsigned char>(text[i]) & 0xc0u) != 0x80u;
  return out + '\n' + std::string(width, ' ') + '^';
}

Layout parse_layout(std::string_view text) {
  const LayoutValue value = eval_expression(text);
  if (const auto* layout = std::get_if<Layout>(&value)) return *layout;
  throw ExpressionError(cat("a layout is needed, such as (4,8):(8,1), not ", kind_of(value)), 0,
                        quoted(text));
}

IntTuple parse_tuple(std::string_view text) {
  const LayoutValue value = eval_expression(text);
  if (const auto* number = std::get_if<index_t>(&value)) return IntTuple(*number);
  if (const auto* tuple = std::get_if<IntTuple>(&value)) return *tuple;
  throw ExpressionError(cat("a tuple is needed, such as (4,8), not ", kind_of(value)), 0,
                        quoted(text));
}

std::string bracketed(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0 && i > 0 && i + 1 == text.size()) return std::string(text);
    if (depth == 0) break;
  }
  return cat("(", text, ")");
}

Swizzle parse_swizzle(std::string_view text) {
  std::optional<IntTuple> parts;
  try {
    parts = parse_tuple(bracketed(text));
  } catch (const ExpressionError&) {
    // Its message is about layouts; only three numbers are possible here.
  }
  if (!parts || parts->count != 3)
    throw Error(Category::argument, "a swizzle is three numbers", "BITS,BASE,SHIFT",
                cat("'", text, "'"));
  const auto small = [&](int i) {
    return static_cast<int>(std::clamp<index_t>(parts->leaf(i), -1000, 1000));
  };
  return Swizzle(small(0), small(1), small(2));
}

Tiler parse_tiler(std::string_view text) {
  const LayoutValue value = eval_expression(text);
  if (const auto* t = std::get_if<Tiler>(&value)) return *t;
  if (const auto* layout = std::get_if<Layout>(&value)) return tiler(*layout);
  if (const auto* number = std::get_if<index_t>(&value)) return tiler(Layout(*number));
  if (const auto* tuple = std::get_if<IntTuple>(&value)) return tiler_of(*tuple, 0);
  throw ExpressionError(cat("a tiler is needed, such as <2:1,4:1>, not ", kind_of(value)), 0,
                        quoted(text));
}

ComposedLayout composed_of(const LayoutValue& value, std::string_view text) {
  if (const auto* composed = std::get_if<ComposedLayout>(&value)) return *composed;
  if (const auto* layout = std::get_if<Layout>(&value)) return composition(Swizzle(), *layout);
  throw ExpressionError(cat("a layout is needed, such as (4,8):(8,1), not ", kind_of(value)), 0,
                        quoted(text));
}

ComposedLayout parse_composed(std::string_view text) {
  return composed_of(eval_expression(text), text);
}

}  // namespace tessera
