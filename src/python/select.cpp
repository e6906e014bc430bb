// Selected entries of a product as Python sees them: what tessera/_select.py is made of.
#include "tessera/matmul/select.hpp"

#include <nanobind/stl/optional.h>

#include "bindings.hpp"
#include "operand.hpp"
#include "tessera/core/text.hpp"

namespace tessera::python {

namespace {

template <class T>
nb::bytearray bytes_of(const std::vector<T>& values) {
  return nb::bytearray(values.data(), values.size() * sizeof(T));
}

void require_matrix_on_cpu(const Operand& m, const char* call) {
  if (m.shape.size() != 2)
    throw nb::value_error(cat(call, ": ", m.name, " has shape ", shape_text(m.shape),
                              ": expected a matrix of two axes")
                              .c_str());
  if (m.device != Operand::kCpu)
    throw nb::buffer_error(cat(call, ": ", m.name, " is on a GPU: expected the CPU").c_str());
}

nb::tuple select(const Operand& a, const Operand& b, std::optional<index_t> k, double threshold,
                 int threads) {
  const char* const call = k ? "top_k" : "entries_above";
  require_matrix_on_cpu(a, call);
  require_matrix_on_cpu(b, call);
  const ConstMatrix left = a.matrix(), right = b.matrix();
  const SelectedEntries found = [&] {
    const nb::gil_scoped_release released;
    return k ? top_k(left, right, *k, threads) : entries_above(left, right, threshold, threads);
  }();
  return nb::make_tuple(numpy_name(found.dtype).c_str(), bytes_of(found.starts),
                        bytes_of(found.columns), bytes_of(found.values));
}

}  // namespace

void add_select(nb::module_& m) {
  m.def("select", &select, nb::arg("a"), nb::arg("b"), nb::arg("k").none(), nb::arg("threshold"),
        nb::arg("threads"),
        "(dtype, starts, columns, values) of the selected entries, as bytes in rows.");
}

}  // namespace tessera::python
