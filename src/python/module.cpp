// The module tessera._core: what the Python package is made of. Users see the package.
#include "bindings.hpp"

NB_MODULE(_core, m) {
  using namespace tessera::python;
  m.doc() = "The compiled part of tessera.";
  add_errors(m);
  add_plan(m);
  add_select(m);
  add_products(m);
  add_matmul(m);
  add_config(m);
  add_xla(m);
  add_layout(m);
}
