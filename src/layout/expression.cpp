// One recursive-descent reader that evaluates as it goes.
//
//   expression := primary [':' primary] { '(' arguments ')' }
//   primary    := number | '?' | '(' expressions ')' | '<' expressions '>' | name '(' arguments ')'
#include "tessera/layout/expression.hpp"

#include <algorithm>
#include <limits>

#include "tessera/core/edit_distance.hpp"
#include "tessera/core/text.hpp"
#include "tessera/layout/algebra.hpp"
#include "tessera/layout/parse.hpp"

namespace tessera {

namespace {

constexpr int kMaxNesting = 48;
constexpr std::size_t kMaxArguments = 16;

std::string_view kind_of(const LayoutValue& value) {
  constexpr std::string_view kNames[] = {"a number", "a tuple",   "a layout",
                                         "a tiler",  "a swizzle", "a composed layout"};
  return kNames[value.index()];
}

struct Argument {
  LayoutValue value;
  std::size_t column;
};

/// (2,4) as <2:1,4:1>.
Tiler tiler_of(const IntTuple& tuple, std::size_t column) {
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

using Function = LayoutValue (*)(const Arguments&);

struct Entry {
  std::string_view usage, meaning;
  std::size_t least, most;
  Function call;

  std::string_view name() const { return usage.substr(0, usage.find('(')); }
};

/// A number where the tuple is one.
LayoutValue plain(const IntTuple& t) {
  if (t.is_leaf()) return t.value();
  return t;
}

template <class Divide>
LayoutValue divide(const Arguments& a, Divide&& by) {
  const auto split = [&](const auto& layout) -> LayoutValue {
    if (a.get_if<Layout>(1)) return by(layout, a.layout(1));
    if (a.get_if<index_t>(1) || a.get_if<IntTuple>(1)) return by(layout, a.tuple(1));
    return by(layout, a.tiler(1));
  };
  if (const auto* c = a.get_if<ComposedLayout>(0)) return split(*c);
  return split(a.layout(0));
}

LayoutValue compose(const Arguments& a) {
  if (const auto* s = a.get_if<Swizzle>(0)) {
    if (const auto* c = a.get_if<ComposedLayout>(1); c && c->offset == 0 && c->swizzled == false)
      a.wrong(1, "a layout");
    return composition(*s, a.layout(1));
  }
  const auto after = [&](const auto& outer) -> LayoutValue {
    if (const auto* b = a.get_if<Layout>(1)) return composition(outer, *b);
    if (const auto* n = a.get_if<index_t>(1)) return composition(outer, tiler(Layout(*n)));
    return composition(outer, a.tiler(1));
  };
  if (const auto* c = a.get_if<ComposedLayout>(0)) return after(*c);
  return after(a.layout(0));
}

constexpr std::size_t kMany = kMaxArguments;

constexpr Entry kFunctions[] = {
    {"row_major(s0,s1,...)", "compact layout, last mode fastest", 1, kMany,
     [](const Arguments& a) -> LayoutValue { return row_major(a.shape_of_all()); }},
    {"col_major(s0,s1,...)", "compact layout, first mode fastest", 1, kMany,
     [](const Arguments& a) -> LayoutValue { return col_major(a.shape_of_all()); }},
    {"make_ordered_layout(shape,order)", "compact layout, smallest order fastest", 2, 2,
     [](const Arguments& a) -> LayoutValue { return make_ordered_layout(a.tuple(0), a.tuple(1)); }},
    {"make_layout(a,b,...)", "one layout with a mode for each", 1, kMany,
     [](const Arguments& a) -> LayoutValue {
       LayoutBuilder all;
       for (std::size_t i = 0; i < a.size(); ++i) all.push(a.layout(i));
       return all.done();
     }},
    {"swizzle(bits,base,shift)", "exclusive-or of index bits", 3, 3,
     [](const Arguments& a) -> LayoutValue {
       return Swizzle(a.small_number(0), a.small_number(1), a.small_number(2));
     }},
    {"composed(outer,offset,a)", "outer(offset + a(i)), outer a swizzle or layout", 3, 3,
     [](const Arguments& a) -> LayoutValue {
       if (const auto* s = a.get_if<Swizzle>(0))
         return ComposedLayout(*s, a.number(1), a.layout(2));
       return ComposedLayout(a.layout(0), a.number(1), a.layout(2));
     }},
    {"size(a)", "number of coordinates", 1, 1,
     [](const Arguments& a) -> LayoutValue {
       if (const auto* c = a.get_if<ComposedLayout>(0)) return c->size();
       if (a.get_if<IntTuple>(0) || a.get_if<index_t>(0)) return a.tuple(0).product();
       return a.layout(0).size();
     }},
    {"cosize(a)", "one more than the largest index", 1, 1,
     [](const Arguments& a) -> LayoutValue {
       if (const auto* c = a.get_if<ComposedLayout>(0)) return c->cosize();
       return a.layout(0).cosize();
     }},
    {"rank(a)", "number of modes", 1, 1,
     [](const Arguments& a) -> LayoutValue {
       if (const auto* c = a.get_if<ComposedLayout>(0)) return index_t{c->rank()};
       if (a.get_if<IntTuple>(0) || a.get_if<index_t>(0)) return index_t{a.tuple(0).rank()};
       return index_t{a.layout(0).rank()};
     }},
    {"shape(a)", "the shape", 1, 1,
     [](const Arguments& a) -> LayoutValue { return plain(a.layout(0).shape); }},
    {"stride(a)", "the stride", 1, 1,
     [](const Arguments& a) -> LayoutValue { return plain(a.layout(0).stride); }},
    {"coalesce(a)", "the same function with the fewest modes; coalesce(a,profile) keeps its rank",
     1, 2,
     [](const Arguments& a) -> LayoutValue {
       return a.size() == 1 ? coalesce(a.layout(0)) : coalesce(a.layout(0), a.tuple(1));
     }},
    {"coalesce_modes(a)", "coalesce, mode by mode", 1, 1,
     [](const Arguments& a) -> LayoutValue { return coalesce_modes(a.layout(0)); }},
    {"filter(a)", "without modes that do not move", 1, 1,
     [](const Arguments& a) -> LayoutValue { return filter(a.layout(0)); }},
    {"composition(a,b)", "i -> a(b(i)); b a layout, or a tiler to go mode by mode", 2, 2, compose},
    {"complement(a,n)", "what a leaves out of 0 to n", 2, 2,
     [](const Arguments& a) -> LayoutValue { return complement(a.layout(0), a.count(1)); }},
    {"right_inverse(a)", "r with a(r(i)) = i", 1, 1,
     [](const Arguments& a) -> LayoutValue { return right_inverse(a.layout(0)); }},
    {"left_inverse(a)", "l with l(a(i)) = i", 1, 1,
     [](const Arguments& a) -> LayoutValue { return left_inverse(a.layout(0)); }},
    {"logical_divide(a,b)", "(tile, rest)", 2, 2,
     [](const Arguments& a) {
       return divide(a, [](const auto& x, const auto& y) { return logical_divide(x, y); });
     }},
    {"zipped_divide(a,b)", "((tiles), (rests))", 2, 2,
     [](const Arguments& a) {
       return divide(a, [](const auto& x, const auto& y) { return zipped_divide(x, y); });
     }},
    {"tiled_divide(a,b)", "((tiles), rest, rest, ...)", 2, 2,
     [](const Arguments& a) {
       return divide(a, [](const auto& x, const auto& y) { return tiled_divide(x, y); });
     }},
    {"flat_divide(a,b)", "(tile, tile, ..., rest, rest, ...)", 2, 2,
     [](const Arguments& a) -> LayoutValue {
       if (a.get_if<Layout>(1)) return flat_divide(a.layout(0), a.layout(1));
       if (a.get_if<Tiler>(1)) return flat_divide(a.layout(0), a.tiler(1));
       return flat_divide(a.layout(0), a.tuple(1));
     }},
    {"logical_product(a,b)", "(block, repetition)", 2, 2,
     [](const Arguments& a) -> LayoutValue {
       if (a.get_if<Layout>(1)) return logical_product(a.layout(0), a.layout(1));
       return logical_product(a.layout(0), a.tiler(1));
     }},
    {"blocked_product(a,b)", "blocks side by side", 2, 2,
     [](const Arguments& a) -> LayoutValue { return blocked_product(a.layout(0), a.layout(1)); }},
    {"raked_product(a,b)", "blocks interleaved", 2, 2,
     [](const Arguments& a) -> LayoutValue { return raked_product(a.layout(0), a.layout(1)); }},
    {"tile_to_shape(a,shape)", "a repeated to fill a shape; tile_to_shape(a,shape,order) in order",
     2, 3,
     [](const Arguments& a) -> LayoutValue {
       if (a.size() == 2) return tile_to_shape(a.layout(0), a.tuple(1));
       return tile_to_shape(a.layout(0), a.tuple(1), a.tuple(2));
     }},
    {"upcast(a,n)", "in elements n times as wide", 2, 2,
     [](const Arguments& a) -> LayoutValue { return upcast(a.layout(0), a.count(1)); }},
    {"downcast(a,n)", "in elements n times as narrow", 2, 2,
     [](const Arguments& a) -> LayoutValue { return downcast(a.layout(0), a.count(1)); }},
    {"sublayout(a,i,...)", "some of the modes", 2, kMany,
     [](const Arguments& a) -> LayoutValue {
       LayoutBuilder out;
       for (std::size_t i = 1; i < a.size(); ++i) out.push(a.layout(0).mode(a.small_number(i)));
       return out.done();
     }},
    {"transpose(a)", "the modes in opposite order", 1, 1,
     [](const Arguments& a) -> LayoutValue { return transpose(a.layout(0)); }},
    {"idx2crd(i,a)", "the coordinate of a linear position; a may be a shape", 2, 2,
     [](const Arguments& a) -> LayoutValue {
       if (a.get_if<Layout>(1)) return plain(idx2crd(a.number(0), a.layout(1)));
       return plain(idx2crd(a.number(0), a.tuple(1)));
     }},
    {"crd2idx(c,a)", "the index of a coordinate", 2, 2,
     [](const Arguments& a) -> LayoutValue { return crd2idx(a.tuple(0), a.layout(1)); }},
    {"shape_div(s,t)", "one shape divided by another", 2, 2,
     [](const Arguments& a) -> LayoutValue { return plain(shape_div(a.tuple(0), a.tuple(1))); }},
};

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string unknown_name(std::string_view name) {
  if (name.size() > 40) return "there is no function with such a long name";
  std::string text = cat("there is no function '", name, "'");
  const Entry* nearest = nullptr;
  int least = static_cast<int>(std::max<std::size_t>(2, name.size() / 3)) + 1;
  for (const Entry& entry : kFunctions) {
    const int distance = edit_distance(name, entry.name());
    if (distance < least) {
      least = distance;
      nearest = &entry;
    }
  }
  if (nearest) text += cat("; did you mean ", nearest->usage, "?");
  return text;
}

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
  /// Runs a piece of algebra; what it refuses is an error at `column`.
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
    const Entry* entry = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                      [&](const Entry& e) { return e.name() == name; });
    if (entry == std::end(kFunctions)) fail_at(start, unknown_name(name));
    if (!take('(')) fail(cat("'(' is expected after ", name, ", as in ", entry->usage));
    std::vector<Argument> given = list(')');
    const Arguments arguments(entry->usage, std::move(given), at_ - 1);
    arguments.expect(entry->least, entry->most);
    try {
      return entry->call(arguments);
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
  // Continuation bytes of UTF-8 take no place of their own.
  std::size_t width = 0;
  for (std::size_t i = 0; i < column && i < text.size(); ++i)
    width += (static_cast<unsigned char>(text[i]) & 0xc0u) != 0x80u;
  return out + '\n' + std::string(width, ' ') + '^';
}

std::vector<ExpressionFunction> expression_functions() {
  std::vector<ExpressionFunction> out;
  for (const Entry& entry : kFunctions) out.push_back({entry.usage, entry.meaning});
  out.push_back({"a(i,j,...)", "the index of a coordinate"});
  return out;
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

Tiler parse_tiler(std::string_view text) {
  const LayoutValue value = eval_expression(text);
  if (const auto* t = std::get_if<Tiler>(&value)) return *t;
  if (const auto* layout = std::get_if<Layout>(&value)) return tiler(*layout);
  if (const auto* number = std::get_if<index_t>(&value)) return tiler(Layout(*number));
  if (const auto* tuple = std::get_if<IntTuple>(&value)) return tiler_of(*tuple, 0);
  throw ExpressionError(cat("a tiler is needed, such as <2:1,4:1>, not ", kind_of(value)), 0,
                        quoted(text));
}

ComposedLayout parse_composed(std::string_view text) {
  const LayoutValue value = eval_expression(text);
  if (const auto* composed = std::get_if<ComposedLayout>(&value)) return *composed;
  if (const auto* layout = std::get_if<Layout>(&value)) return composition(Swizzle(), *layout);
  throw ExpressionError(cat("a layout is needed, such as (4,8):(8,1), not ", kind_of(value)), 0,
                        quoted(text));
}

}  // namespace tessera
