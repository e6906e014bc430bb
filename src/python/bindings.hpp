// The parts of the module tessera._core, one file each.
#pragma once

#include <nanobind/nanobind.h>

namespace tessera::python {

namespace nb = nanobind;

/// tessera._arguments.`check`(...): what a caller gave, or a TypeError that says what is expected.
template <class... Given>
nb::object argument(const char* check, const Given&... given) {
  return nb::module_::import_("tessera._arguments").attr(check)(given...);
}

/// 2 * M * N * K below which other threads of Python wait: taking the lock again costs as much.
inline constexpr double kKeepLockFlops = 1e5;

void add_errors(nb::module_& m);
void add_matmul(nb::module_& m);
void add_products(nb::module_& m);
void add_plan(nb::module_& m);
void add_config(nb::module_& m);
void add_xla(nb::module_& m);
void add_layout(nb::module_& m);

}  // namespace tessera::python
