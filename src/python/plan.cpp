// Plan as Python sees it: what was decided, and why.
#include "tessera/matmul/plan.hpp"

#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "operand.hpp"

namespace tessera::python {

namespace {

std::string operand_text(const char* name, index_t rows, index_t cols) {
  return cat(name, " (", rows, ",", cols, ")");
}

/// What print() shows: the product, the choice, and a line for each algorithm that was not taken.
std::string text_of(const Plan& plan) {
  const Problem& p = plan.problem;
  std::string out =
      cat(operand_text("C", p.M, p.N), " = ", operand_text("A", p.M, p.K), " * ",
          operand_text("B", p.K, p.N), ", ", name(p.in),
          p.in == p.out ? "" : cat(" into ", name(p.out)), "\n", plan.algorithm,
          plan.tile == TileShape{} ? "" : cat(", tile ", to_string(plan.tile)), ", ",
          plan.device == "cpu" ? cat(plan.threads, plan.threads == 1 ? " thread" : " threads")
                               : plan.device,
          ": ", plan.reason, "\n");
  for (const auto& [algorithm, reason] : plan.rejected)
    out += cat("  not ", algorithm, ": ", reason, "\n");
  out.pop_back();
  return out;
}

}  // namespace

void add_plan(nb::module_& m) {
  nb::class_<Plan>(m, "Plan", "What was decided for a product, and why. print() shows it.")
      .def_prop_ro("algorithm", [](const Plan& p) { return p.algorithm; })
      .def_prop_ro(
          "tile",
          [](const Plan& p) -> nb::object {
            if (p.tile == TileShape{}) return nb::none();
            return nb::cast(to_string(p.tile));
          },
          "As text, such as '128x128x8/8x8', or None.")
      .def_prop_ro("device", [](const Plan& p) { return p.device; })
      .def_prop_ro("threads", [](const Plan& p) { return p.threads; })
      .def_prop_ro("reason", [](const Plan& p) { return p.reason; })
      .def_prop_ro(
          "rejected",
          [](const Plan& p) {
            nb::dict out;
            for (const auto& [algorithm, reason] : p.rejected) out[algorithm.c_str()] = reason;
            return out;
          },
          "Algorithms that were not taken, and why.")
      .def_prop_ro(
          "problem", [](const Plan& p) { return to_string(p.problem); },
          "What was asked, in one line.")
      .def_prop_ro(
          "shape",
          [](const Plan& p) { return nb::make_tuple(p.problem.M, p.problem.N, p.problem.K); },
          "(M, N, K)")
      .def_prop_ro("dtype", [](const Plan& p) { return numpy_name(p.problem.in); })
      .def_prop_ro("out_dtype", [](const Plan& p) { return numpy_name(p.problem.out); })
      .def_static(
          "parse", [](const std::string& text) { return parse_plan(text); }, nb::arg("text"),
          "Inverse of text().")
      .def(
          "text", [](const Plan& p) { return to_string(p); }, "One line that parse() reads.")
      .def(
          "__eq__", [](const Plan& a, const Plan& b) { return a == b; }, nb::is_operator())
      .def("__str__", text_of)
      .def("__repr__", [](const Plan& p) { return cat("<tessera.Plan ", to_string(p), ">"); });
}

}  // namespace tessera::python
