// Layouts, tilers and swizzles as Python sees them. The algebra is that of the expression language:
// tessera/layout.py writes expressions, evaluate() gives their values.
#include "tessera/layout/layout.hpp"

#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <functional>

#include "bindings.hpp"
#include "layout/parse.hpp"
#include "tessera/core/text.hpp"
#include "tessera/layout/expression.hpp"
#include "tessera/layout/svg.hpp"
#include "tessera/layout/table.hpp"

namespace tessera::python {

namespace {

/// A plain layout, or one that a swizzle or another layout follows.
struct AnyLayout {
  ComposedLayout composed;
  bool plain;

  std::string text() const { return plain ? to_string(composed.inner) : to_string(composed); }
};

AnyLayout layout_of(const LayoutValue& value, const std::string& text) {
  return {composed_of(value, text), std::holds_alternative<Layout>(value)};
}

nb::object python_of(const IntTuple& tuple) {
  if (tuple.is_leaf()) {
    if (tuple.value() == dynamic) return nb::str("?");
    return nb::cast(tuple.value());
  }
  nb::list modes;
  for (int i = 0; i < tuple.rank(); ++i) modes.append(python_of(tuple.mode(i)));
  return nb::tuple(modes);
}

/// A value of the expression language as Python's own: int, tuple, Layout, Tiler or Swizzle.
nb::object python_of(const LayoutValue& value, const std::string& text) {
  if (const auto* number = std::get_if<index_t>(&value)) return nb::cast(*number);
  if (const auto* tuple = std::get_if<IntTuple>(&value)) return python_of(*tuple);
  if (const auto* tiler = std::get_if<Tiler>(&value)) return nb::cast(*tiler);
  if (const auto* swizzle = std::get_if<Swizzle>(&value)) return nb::cast(*swizzle);
  return nb::cast(layout_of(value, text));
}

std::optional<TileMark> mark_of(const std::optional<std::string>& tile,
                                const std::optional<std::string>& at) {
  if (!tile) return {};
  TileMark out{parse_tuple(*tile), {}};
  out.at = at ? parse_tuple(*at) : out.tile;
  for (int i = 0; !at && i < out.at.count; ++i) out.at.numbers.set(i, 0);
  return out;
}

std::string picture(const AnyLayout& layout, const std::optional<TileMark>& mark,
                    const ValueAt& value_at) {
  return layout.plain ? svg(layout.composed.inner, mark, value_at)
                      : svg(layout.composed, mark, value_at);
}
std::string table(const AnyLayout& layout, const std::optional<TileMark>& mark) {
  return layout.plain ? format_table(layout.composed.inner, mark)
                      : format_table(layout.composed, mark);
}

/// One tile, clipped at the edge: the index of its first element, and the layout from there on. Of
/// a composed layout the first index is part of the layout.
std::pair<index_t, AnyLayout> tile_of(const AnyLayout& whole, const TileMark& mark) {
  const Layout& inner = whole.composed.inner;
  if (mark.tile.count != inner.rank() || mark.at.count != inner.rank())
    throw Error(Category::argument,
                cat("tile: ", mark.tile, " at ", mark.at, " is no part of ", whole.text()),
                cat("a number for each of the ", inner.rank(), " modes"));
  IntTuple first = mark.at;
  LayoutBuilder modes;
  for (int i = 0; i < inner.rank(); ++i) {
    const index_t extent = mark.tile.mode(i).product(), at = mark.at.mode(i).product();
    const index_t size = inner.mode(i).size(), from = checked_mul(extent, at);
    if (extent < 1 || at < 0 || from >= size)
      throw Error(Category::argument,
                  cat("tile: there is no tile ", mark.at, " of ", mark.tile, " in ", whole.text()));
    first.numbers.set(i, from);
    modes.push(composition(inner.mode(i), Layout(std::min(extent, size - from), 1)));
  }
  const index_t offset = inner(first);
  if (whole.plain) return {offset, {ComposedLayout(Swizzle(), 0, modes.done()), true}};
  const ComposedLayout& c = whole.composed;
  return {0,
          {ComposedLayout(c.swizzle, c.outer, c.swizzled, c.offset + offset, modes.done()), false}};
}

/// The result of calling the layout, but an Error where it exceeds 64 bits: operator() is for
/// indices of memory, and wraps.
index_t index_of(const AnyLayout& layout, const IntTuple& coordinate) {
  const ComposedLayout& c = layout.composed;
  if (!c.inner.stride.is_static() || !c.outer.stride.is_static()) return c(coordinate);
  const index_t index = checked_add(c.offset, crd2idx(coordinate, c.inner));
  return c.swizzled ? c.swizzle(index) : crd2idx(IntTuple(index), c.outer);
}

std::vector<index_t> indices_of(const AnyLayout& layout) {
  std::vector<index_t> out(static_cast<std::size_t>(layout.composed.size()));
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = index_of(layout, IntTuple(static_cast<index_t>(i)));
  return out;
}

void add_layout_class(nb::module_& m) {
  nb::class_<AnyLayout>(m, "LayoutBase", nb::is_weak_referenceable())
      .def("__init__",
           [](AnyLayout* self, const std::string& text) {
             new (self) AnyLayout(layout_of(eval_expression(text), text));
           })
      .def("index", [](const AnyLayout& l, index_t i) { return index_of(l, IntTuple(i)); })
      .def("index",
           [](const AnyLayout& l, const std::string& coordinate) {
             return index_of(l, parse_tuple(coordinate));
           })
      .def_prop_ro("shape", [](const AnyLayout& l) { return python_of(l.composed.shape()); })
      .def_prop_ro("stride", [](const AnyLayout& l) { return python_of(l.composed.inner.stride); })
      .def_prop_ro("rank", [](const AnyLayout& l) { return l.composed.rank(); })
      .def_prop_ro("is_plain", [](const AnyLayout& l) { return l.plain; })
      .def("table",
           [](const AnyLayout& l, const std::optional<std::string>& tile,
              const std::optional<std::string>& at) { return table(l, mark_of(tile, at)); })
      .def(
          "svg",
          [](const AnyLayout& l, const std::optional<std::string>& tile,
             const std::optional<std::string>& at,
             const ValueAt& value_at) { return picture(l, mark_of(tile, at), value_at); },
          nb::arg().none(), nb::arg().none(), nb::arg().none() = nb::none())
      .def("tile_at",
           [](const AnyLayout& l, const std::string& tile, const std::string& at) {
             return tile_of(l, {parse_tuple(tile), parse_tuple(at)});
           })
      .def("indices", indices_of, "Of all coordinates, the first mode fastest.")
      .def("svg_banks",
           [](const AnyLayout& l, index_t elements_per_bank, index_t banks) {
             return svg_swizzle(l.composed, elements_per_bank, banks);
           })
      .def("svg_thread_values",
           [](const AnyLayout& l, const std::string& shape) {
             return svg_thread_values(l.composed.inner, parse_tuple(shape));
           })
      .def(
          "__eq__",
          [](const AnyLayout& a, nb::handle b) {
            return nb::isinstance<AnyLayout>(b) && a.text() == nb::cast<const AnyLayout&>(b).text();
          },
          nb::is_operator())
      .def("__hash__", [](const AnyLayout& l) { return std::hash<std::string>{}(l.text()); })
      .def("__str__", &AnyLayout::text);
}

}  // namespace

// Over 60 lines: a table, one case or field a line.
void add_layout(nb::module_& m) {
  add_layout_class(m);
  nb::class_<Swizzle>(m, "Swizzle",
                      "swizzle(bits, base, shift): an index with `bits` of its bits replaced by "
                      "their exclusive-or with those `shift` places above; `base` low bits stay.")
      .def("__init__",
           [](Swizzle* self, nb::args given, nb::kwargs named) {
             const auto [bits, base, shift] = bound<3>("Swizzle", given, named);
             const auto whole = [](const char* name, const nb::object& value) {
               return nb::cast<int>(argument("whole", name, value, "Swizzle"));
             };
             new (self) Swizzle(whole("bits", bits), whole("base", base), whole("shift", shift));
           })
      .def_ro("bits", &Swizzle::bits)
      .def_ro("base", &Swizzle::base)
      .def_ro("shift", &Swizzle::shift)
      .def("__call__",
           [](const Swizzle& s, nb::args given, nb::kwargs named) {
             const auto [index] = bound<1>("Swizzle.__call__", given, named);
             return s(
                 nb::cast<index_t>(argument("whole", "index", index, "Swizzle", nb::none(), 63)));
           })
      .def("__getstate__", [](const Swizzle& s) { return std::tuple(s.bits, s.base, s.shift); })
      .def("__setstate__",
           [](Swizzle& s, const std::tuple<int, int, int>& state) {
             new (&s) Swizzle(std::get<0>(state), std::get<1>(state), std::get<2>(state));
           })
      .def(
          "__eq__",
          [](const Swizzle& a, nb::handle b) {
            return nb::isinstance<Swizzle>(b) && a == nb::cast<const Swizzle&>(b);
          },
          nb::is_operator())
      .def("__hash__", [](const Swizzle& s) { return std::hash<std::string>{}(to_string(s)); })
      .def("__str__", [](const Swizzle& s) { return to_string(s); })
      .def("__repr__", [](const Swizzle& s) {
        return cat("tessera.Swizzle(", s.bits, ", ", s.base, ", ", s.shift, ")");
      });
  nb::class_<Tiler>(m, "Tiler",
                    "Tiler('<2:1,4:1>') or Tiler((2, 4)): one layout for each mode; n is n:1.")
      .def("__init__",
           [](Tiler* self, nb::args given, nb::kwargs named) {
             const auto [modes] = bound<1>("Tiler", given, named);
             new (self) Tiler(parse_tiler(nb::cast<std::string>(argument("tiler", modes))));
           })
      .def("__getstate__", [](const Tiler& t) { return to_string(t); })
      .def("__setstate__",
           [](Tiler& t, const std::string& text) { new (&t) Tiler(parse_tiler(text)); })
      .def_prop_ro("rank", &Tiler::rank)
      .def(
          "__eq__",
          [](const Tiler& a, nb::handle b) {
            return nb::isinstance<Tiler>(b) && a == nb::cast<const Tiler&>(b);
          },
          nb::is_operator())
      .def("__hash__", [](const Tiler& t) { return std::hash<std::string>{}(to_string(t)); })
      .def("__str__", [](const Tiler& t) { return to_string(t); })
      .def("__repr__", [](const Tiler& t) { return cat("tessera.Tiler('", to_string(t), "')"); });
  m.def(
      "evaluate", [](const std::string& text) { return python_of(eval_expression(text), text); },
      "The value of an expression of `tessera layout eval`.");
  m.def("functions", [] {
    nb::dict out;
    for (const auto& [usage, meaning] : expression_functions())
      out[std::string(usage).c_str()] = std::string(meaning);
    return out;
  });
}

}  // namespace tessera::python
