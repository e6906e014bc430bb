// The table of functions: one line each of usage, meaning and how many arguments, then the call
// into the algebra. Overloads of the algebra are chosen here by the kinds of the arguments. The
// table is also what `tessera help layouts` and the Python module list.
#include "functions.hpp"

#include <algorithm>

#include "base/edit_distance.hpp"

namespace tessera {

namespace expression {

namespace {

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

constexpr Function kFunctions[] = {
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

}  // namespace

const Function* find_function(std::string_view name) {
  const auto* found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                   [&](const Function& f) { return f.name() == name; });
  return found == std::end(kFunctions) ? nullptr : found;
}

std::string unknown_function(std::string_view name) {
  if (name.size() > 40) return "there is no function with such a long name";
  std::string text = cat("there is no function '", name, "'");
  const Function* nearest = nullptr;
  int least = static_cast<int>(std::max<std::size_t>(2, name.size() / 3)) + 1;
  for (const Function& function : kFunctions) {
    const int distance = edit_distance(name, function.name());
    if (distance < least) {
      least = distance;
      nearest = &function;
    }
  }
  if (nearest) text += cat("; did you mean ", nearest->usage, "?");
  return text;
}

}  // namespace expression

std::vector<ExpressionFunction> expression_functions() {
  std::vector<ExpressionFunction> out;
  for (const expression::Function& f : expression::kFunctions) out.push_back({f.usage, f.meaning});
  out.push_back({"a(i,j,...)", "the index of a coordinate"});
  return out;
}

}  // namespace tessera
