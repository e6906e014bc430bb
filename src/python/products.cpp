// Operand, PackedMatrix and multiply as Python sees them: what tessera/_matmul.py is made of.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "matmul_call.hpp"
#include "tessera/core/text.hpp"

namespace tessera::python {

namespace {

Activation activation_of(const std::optional<std::string>& name) {
  constexpr const char* names[] = {"none", "relu", "gelu", "silu"};
  if (!name) return Activation::none;
  for (std::size_t i = 0; i < std::size(names); ++i)
    if (*name == names[i]) return static_cast<Activation>(i);
  throw nb::value_error(
      cat("matmul: unknown activation '", *name, "': expected None, 'relu', 'gelu' or 'silu'")
          .c_str());
}

Request request_of(double alpha, double beta, const std::optional<std::string>& activation,
                   const std::string& algorithm, const std::optional<std::string>& tile,
                   std::optional<int> threads, const std::string& arithmetic, std::uintptr_t stream,
                   const std::optional<std::string>& device) {
  Request out{.alpha = alpha, .beta = beta, .activation = activation_of(activation)};
  out.options.algorithm = algorithm;
  if (tile) out.options.tile = parse_tile(*tile);
  if (threads && *threads < 1)
    throw nb::value_error(
        cat("matmul: threads is ", *threads, ": expected 1 or more, or None").c_str());
  out.options.threads = threads.value_or(0);
  if (device) out.options.device = *device;
  out.options.arithmetic = parse_arithmetic(arithmetic);
  out.stream = stream;
  return out;
}

Right right_of(nb::handle b) {
  if (nb::isinstance<PackedMatrix>(b)) return {.packed = &nb::cast<const PackedMatrix&>(b)};
  return {.array = &nb::cast<const Operand&>(b)};
}

nb::tuple tuple_of(const std::vector<index_t>& numbers) { return nb::tuple(nb::cast(numbers)); }

void add_operand(nb::module_& m) {
  nb::class_<Operand>(m, "Operand", "An array as the products see it; keeps its owner alive.")
      .def(
          "__init__",
          [](Operand* self, nb::object array, const std::string& name, bool write) {
            new (self) Operand(array, name, write ? Access::write : Access::read);
          },
          nb::arg("array").none(), nb::arg("name"), nb::arg("write") = false)
      .def(
          "transpose",
          [](Operand& self) {
            if (self.shape.size() < 2)
              throw nb::value_error(cat("matmul: ", self.name, " of shape ", shape_text(self.shape),
                                        " cannot be transposed: expected "
                                        "at least two axes")
                                        .c_str());
            self.transpose();
          },
          "The last two axes change places; nothing moves.")
      .def_prop_ro("shape", [](const Operand& o) { return tuple_of(o.shape); })
      .def_prop_ro(
          "strides", [](const Operand& o) { return tuple_of(o.strides); }, "In elements.")
      .def_prop_ro("dtype", [](const Operand& o) { return numpy_name(o.dtype); })
      .def_prop_ro("address",
                   [](const Operand& o) { return reinterpret_cast<std::uintptr_t>(o.data); })
      .def_prop_ro("device", [](const Operand& o) {
        return o.device == Operand::kCpu ? std::string("cpu") : cat("cuda:", o.device);
      });
}

/// As matmul reads a dtype.
DType dtype_of_a(nb::handle given) {
  const auto name = nb::cast<std::string>(
      nb::module_::import_("tessera._arguments").attr("dtype_name")(given, "PackedMatrix"));
  for (const DType each : multiplied_dtypes())
    if (numpy_name(each) == name) return each;
  throw nb::type_error(
      cat("PackedMatrix: a_dtype is ", name, ": expected uint8 or int8, or that of b").c_str());
}

void add_packed_matrix(nb::module_& m) {
  nb::class_<PackedMatrix>(
      m, "PackedMatrix",
      "PackedMatrix(b, *, transpose=False, a_dtype=None): a matrix b (K, N) that many products "
      "have in common, "
      "packed once. A copy; the products have the bits that they have with b itself. Of float64, "
      "float32, float16, bfloat16, int8 or uint8; int32 is not packed. a_dtype: that of the a it "
      "is for, where it is another: uint8 for a b of int8, int8 for one of uint8.")
      .def(nb::new_([](nb::args given, nb::kwargs named) {
        const auto [b, transposes, a_dtype] = bound<3>("PackedMatrix", given, named);
        const bool transpose =
            nb::cast<bool>(argument("flag", "transpose", transposes, "PackedMatrix"));
        nb::module_::import_("tessera._arrays").attr("check_plain")(b, "b", "PackedMatrix");
        Operand operand(b, "b", Access::read);
        if (operand.shape.size() != 2)
          throw nb::value_error(
              cat("PackedMatrix: b has shape ", shape_text(operand.shape), ": expected (K,N)")
                  .c_str());
        if (operand.device != Operand::kCpu)
          throw nb::buffer_error("PackedMatrix: b is on a GPU: expected the CPU");
        if (transpose) operand.transpose();
        const ConstMatrix matrix = operand.matrix();
        return PackedMatrix(matrix, a_dtype.is_none() ? matrix.dtype : dtype_of_a(a_dtype));
      }))
      .def("__copy__", [](nb::object self) { return self; })  // it is immutable
      .def("__deepcopy__", [](nb::object self, nb::handle) { return self; })
      .def("__reduce__",
           [](nb::handle) -> nb::object {
             throw nb::type_error(
                 "PackedMatrix: it is packed for this machine and cannot be pickled; pickle the "
                 "matrix that it was made of");
           })
      .def_prop_ro("shape",
                   [](const PackedMatrix& p) { return nb::make_tuple(p.rows(), p.cols()); })
      .def_prop_ro("dtype", [](const PackedMatrix& p) { return numpy_name(p.dtype()); })
      .def_prop_ro("nbytes", &PackedMatrix::bytes)
      .def("__repr__", [](const PackedMatrix& p) {
        return cat("<tessera.PackedMatrix (", p.rows(), ", ", p.cols(), ") ", numpy_name(p.dtype()),
                   ", ", p.bytes(), " bytes>");
      });
}

}  // namespace

void add_products(nb::module_& m) {
  add_operand(m);
  add_packed_matrix(m);
  m.def("product_shape",
        [](const Operand& a, nb::handle b) { return tuple_of(product_shape(a, right_of(b))); });
  m.def("result_dtypes", [](const std::string& in) {
    nb::list out;
    for (const DType each : result_dtypes(parse_dtype(in))) out.append(numpy_name(each));
    return out;
  });
  m.def(
      "multiplied_dtypes",
      [] {
        nb::list out;
        for (const DType each : multiplied_dtypes()) out.append(numpy_name(each));
        return nb::tuple(out);
      },
      "The element types that a product has.");
  m.def("dtype_name", [](const std::string& name) { return numpy_name(parse_dtype(name)); });
  m.def(
      "multiply",
      [](const Operand& a, nb::handle b, const Operand& out, const Operand* bias, const Operand* c,
         double alpha, double beta, const std::optional<std::string>& activation,
         const std::string& algorithm, const std::optional<std::string>& tile,
         std::optional<int> threads, const std::string& arithmetic, std::uintptr_t stream,
         const nb::object& copy, const std::optional<std::string>& device) {
        multiply(a, right_of(b), out, {.bias = bias, .c = c, .copy = [&] { copy(); }},
                 request_of(alpha, beta, activation, algorithm, tile, threads, arithmetic, stream,
                            device));
      },
      nb::arg("a"), nb::arg("b"), nb::arg("out"), nb::arg("bias").none() = nb::none(),
      nb::arg("c").none() = nb::none(), nb::kw_only(), nb::arg("alpha") = 1.0,
      nb::arg("beta") = 0.0, nb::arg("activation").none() = nb::none(),
      nb::arg("algorithm") = "auto", nb::arg("tile").none() = nb::none(),
      nb::arg("threads").none() = nb::none(), nb::arg("arithmetic") = "chain",
      nb::arg("stream") = 0, nb::arg("copy").none() = nb::none(),
      nb::arg("device").none() = nb::none(),
      "out = activation(alpha * a * b + beta * c + bias); beta scales what out holds without c. "
      "copy() writes c to out where they are on a GPU, once all is checked.");
  m.def(
      "plan",
      [](const Operand& a, nb::handle b, const std::string& dtype, const Operand* out,
         const Operand* bias, const Operand* c, double alpha, double beta,
         const std::optional<std::string>& activation, const std::string& algorithm,
         const std::optional<std::string>& tile, std::optional<int> threads,
         const std::string& arithmetic, const std::optional<std::string>& device) {
        return plan(
            a, right_of(b), parse_dtype(dtype), out, {.bias = bias, .c = c},
            request_of(alpha, beta, activation, algorithm, tile, threads, arithmetic, 0, device));
      },
      nb::arg("a"), nb::arg("b"), nb::arg("dtype"), nb::arg("out").none() = nb::none(),
      nb::arg("bias").none() = nb::none(), nb::arg("c").none() = nb::none(), nb::kw_only(),
      nb::arg("alpha") = 1.0, nb::arg("beta") = 0.0, nb::arg("activation").none() = nb::none(),
      nb::arg("algorithm") = "auto", nb::arg("tile").none() = nb::none(),
      nb::arg("threads").none() = nb::none(), nb::arg("arithmetic") = "chain",
      nb::arg("device").none() = nb::none());
}

}  // namespace tessera::python
