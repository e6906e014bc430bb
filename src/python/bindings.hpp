// The parts of the module tessera._core, one file each.
#pragma once

#include <nanobind/nanobind.h>

#include <array>

namespace tessera::python {

namespace nb = nanobind;

/// tessera._arguments.`check`(...): the checked argument, or a TypeError that says what is
/// expected.
template <class... Given>
nb::object argument(const char* check, const Given&... given) {
  return nb::module_::import_("tessera._arguments").attr(check)(given...);
}

/// The arguments of a call in the order of its parameters; TypeError for missing, surplus or
/// unknown ones, in one sentence: nanobind would list overloads.
template <std::size_t Count>
std::array<nb::object, Count> bound(const char* call, nb::args given, nb::kwargs named) {
  const nb::object found = argument("bound", call, given, named);
  std::array<nb::object, Count> out;
  for (std::size_t i = 0; i < Count; ++i) out[i] = found[i];
  return out;
}

/// 2 * M * N * K below which a product keeps Python's lock: acquiring it again would cost as much.
inline constexpr double kKeepLockFlops = 1e5;

void add_errors(nb::module_& m);
void add_matmul(nb::module_& m);
void add_products(nb::module_& m);
void add_plan(nb::module_& m);
void add_select(nb::module_& m);
void add_config(nb::module_& m);
void add_xla(nb::module_& m);
void add_layout(nb::module_& m);

}  // namespace tessera::python
