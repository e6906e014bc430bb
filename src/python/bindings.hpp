// The parts of the module tessera._core, one file each.
#pragma once

#include <nanobind/nanobind.h>

namespace tessera::python {

namespace nb = nanobind;

void add_errors(nb::module_& m);
void add_matmul(nb::module_& m);
void add_products(nb::module_& m);
void add_plan(nb::module_& m);
void add_config(nb::module_& m);
void add_xla(nb::module_& m);
void add_layout(nb::module_& m);

}  // namespace tessera::python
