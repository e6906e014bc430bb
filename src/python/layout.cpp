// Layouts, tilers and swizzles as Python sees them. The algebra is that of the expression language:
// tessera/layout.py writes expressions, evaluate() gives their values.
#include "tessera/layout/layout.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <functional>

#include "bindings.hpp"
#include "tessera/core/text.hpp"
#include "tessera/layout/expression.hpp"
#include "tessera/layout/parse.hpp"
#include "tessera/layout/svg.hpp"
#include "tessera/layout/table.hpp"

namespace tessera::python {

namespace {

/// A plain layout, or one with a swizzle or another layout behind it.
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

std::string picture(const AnyLayout& layout, const std::optional<TileMark>& mark) {
  return layout.plain ? svg(layout.composed.inner, mark) : svg(layout.composed, mark);
}
std::string table(const AnyLayout& layout, const std::optional<TileMark>& mark) {
  return layout.plain ? format_table(layout.composed.inner, mark)
                      : format_table(layout.composed, mark);
}

void add_layout_class(nb::module_& m) {
  nb::class_<AnyLayout>(m, "LayoutBase", nb::is_weak_referenceable())
      .def("__init__",
           [](AnyLayout* self, const std::string& text) {
             new (self) AnyLayout(layout_of(eval_expression(text), text));
           })
      .def("index", [](const AnyLayout& l, index_t i) { return l.composed(i); })
      .def("index", [](const AnyLayout& l, index_t i, index_t j) { return l.composed(i, j); })
      .def("index",
           [](const AnyLayout& l, const std::string& coordinate) {
             return l.composed(parse_tuple(coordinate));
           })
      .def_prop_ro("shape", [](const AnyLayout& l) { return python_of(l.composed.shape()); })
      .def_prop_ro("stride", [](const AnyLayout& l) { return python_of(l.composed.inner.stride); })
      .def_prop_ro("rank", [](const AnyLayout& l) { return l.composed.rank(); })
      .def_prop_ro("is_plain", [](const AnyLayout& l) { return l.plain; })
      .def("table",
           [](const AnyLayout& l, const std::optional<std::string>& tile,
              const std::optional<std::string>& at) { return table(l, mark_of(tile, at)); })
      .def("svg",
           [](const AnyLayout& l, const std::optional<std::string>& tile,
              const std::optional<std::string>& at) { return picture(l, mark_of(tile, at)); })
      .def("svg_banks",
           [](const AnyLayout& l, index_t elements_per_bank, index_t banks) {
             return svg_swizzle(l.composed, elements_per_bank, banks);
           })
      .def("svg_thread_values",
           [](const AnyLayout& l, const std::string& shape) {
             return svg_thread_values(l.composed.inner, parse_tuple(shape));
           })
      .def("__eq__",
           [](const AnyLayout& a, nb::handle b) {
             return nb::isinstance<AnyLayout>(b) &&
                    a.text() == nb::cast<const AnyLayout&>(b).text();
           })
      .def("__hash__", [](const AnyLayout& l) { return std::hash<std::string>{}(l.text()); })
      .def("__str__", &AnyLayout::text);
}

}  // namespace

void add_layout(nb::module_& m) {
  add_layout_class(m);
  nb::class_<Swizzle>(m, "Swizzle",
                      "swizzle(bits, base, shift): an index with `bits` of its bits replaced by "
                      "their exclusive-or with those `shift` places above; `base` low bits stay.")
      .def(nb::init<int, int, int>(), nb::arg("bits"), nb::arg("base"), nb::arg("shift"))
      .def_ro("bits", &Swizzle::bits)
      .def_ro("base", &Swizzle::base)
      .def_ro("shift", &Swizzle::shift)
      .def(
          "__call__", [](const Swizzle& s, index_t index) { return s(index); }, nb::arg("index"))
      .def("__eq__",
           [](const Swizzle& a, nb::handle b) {
             return nb::isinstance<Swizzle>(b) && a == nb::cast<const Swizzle&>(b);
           })
      .def("__hash__", [](const Swizzle& s) { return std::hash<std::string>{}(to_string(s)); })
      .def("__str__", [](const Swizzle& s) { return to_string(s); })
      .def("__repr__", [](const Swizzle& s) {
        return cat("tessera.Swizzle(", s.bits, ", ", s.base, ", ", s.shift, ")");
      });
  nb::class_<Tiler>(m, "Tiler", "Tiler('<2:1,4:1>'): one layout for each mode.")
      .def("__init__",
           [](Tiler* self, const std::string& text) { new (self) Tiler(parse_tiler(text)); })
      .def_prop_ro("rank", &Tiler::rank)
      .def("__eq__",
           [](const Tiler& a, nb::handle b) {
             return nb::isinstance<Tiler>(b) && a == nb::cast<const Tiler&>(b);
           })
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
