// Plan as Python sees it: what was decided, and why.
#include "tessera/matmul/plan.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <charconv>
#include <functional>

#include "bindings.hpp"
#include "matmul_call.hpp"

namespace tessera::python {

namespace {

std::string operand_text(const char* name, index_t rows, index_t cols) {
  return cat(name, " (", rows, ",", cols, ")");
}

/// What print() shows: the product, the choice, and a line for each algorithm that was not taken.
std::string shown(const CallPlan& call) {
  const Plan& plan = call.plan;
  const Problem& p = plan.problem;
  std::string out =
      cat(call.products == 1 ? "" : cat(call.products, " times "), operand_text("C", p.M, p.N),
          " = ", operand_text("A", p.M, p.K), " * ", operand_text("B", p.K, p.N), ", ", name(p.in),
          p.in_b ? cat(" times ", name(*p.in_b)) : "",
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

constexpr std::string_view kProducts = "products=";

/// One line: how many products, where it is not one, and the plan's own.
std::string text_of(const CallPlan& call) {
  const std::string plan = to_string(call.plan);
  return call.products == 1 ? plan : cat(kProducts, call.products, " ", plan);
}

CallPlan plan_of(std::string_view text) {
  CallPlan out;
  if (text.starts_with(kProducts)) {
    text.remove_prefix(kProducts.size());
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out.products);
    if (error != std::errc{} || out.products < 0)
      throw Error(Category::argument, "plan: cannot read how many products it is for",
                  "a whole number of 0 or more", cat("'", text.substr(0, text.find(' ')), "'"));
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  out.plan = parse_plan(text);
  return out;
}

nb::dict rejected_of(const CallPlan& call) {
  nb::dict out;
  for (const auto& [algorithm, reason] : call.plan.rejected) out[algorithm.c_str()] = reason;
  return out;
}

/// The state for pickle and copy.
using State = std::tuple<std::string, std::vector<std::pair<std::string, std::string>>>;

State state_of(const CallPlan& call) {
  State out{text_of(call), {}};
  for (const auto& [algorithm, reason] : call.plan.rejected)
    std::get<1>(out).emplace_back(algorithm, reason);
  return out;
}

void restore(CallPlan& call, const State& state) {
  new (&call) CallPlan(plan_of(std::get<0>(state)));
  for (const auto& [algorithm, reason] : std::get<1>(state))
    call.plan.rejected.push_back({algorithm, reason});
}

}  // namespace

void add_plan(nb::module_& m) {
  nb::class_<CallPlan>(m, "Plan",
                       "What was decided for a product, and why. print() shows it. Two are equal "
                       "where their text() is.")
      .def_prop_ro("algorithm", [](const CallPlan& c) { return c.plan.algorithm; })
      .def_prop_ro(
          "tile",
          [](const CallPlan& c) -> nb::object {
            if (c.plan.tile == TileShape{}) return nb::none();
            return nb::cast(to_string(c.plan.tile));
          },
          "As text, such as '128x128x8/8x8', or None.")
      .def_prop_ro("device", [](const CallPlan& c) { return c.plan.device; })
      .def_prop_ro("threads", [](const CallPlan& c) { return c.plan.threads; })
      .def_prop_ro("reason", [](const CallPlan& c) { return c.plan.reason; })
      .def_prop_ro("rejected", rejected_of, "Algorithms that were not taken, and why.")
      .def_prop_ro(
          "problem", [](const CallPlan& c) { return to_string(c.plan.problem); },
          "The request for each product, in one line.")
      .def_prop_ro(
          "shape",
          [](const CallPlan& c) {
            const Problem& p = c.plan.problem;
            return nb::make_tuple(p.M, p.N, p.K);
          },
          "(M, N, K) of each product.")
      .def_prop_ro(
          "products", [](const CallPlan& c) { return c.products; },
          "How many there are; a batch has become more rows where it can.")
      .def_prop_ro("dtype", [](const CallPlan& c) { return numpy_name(c.plan.problem.in); })
      .def_prop_ro("out_dtype", [](const CallPlan& c) { return numpy_name(c.plan.problem.out); })
      .def_static(
          "parse",
          [](nb::handle text) {
            return plan_of(nb::cast<std::string>(
                argument("text", "text", text, "what text() gives", "Plan.parse")));
          },
          nb::arg("text").none(), "Inverse of text().")
      .def("text", text_of, "One line that parse() reads; without what was rejected.")
      .def(
          "__eq__",
          [](const CallPlan& a, nb::handle b) {
            return nb::isinstance<CallPlan>(b) &&
                   text_of(a) == text_of(nb::cast<const CallPlan&>(b));
          },
          nb::is_operator())
      .def("__hash__", [](const CallPlan& c) { return std::hash<std::string>{}(text_of(c)); })
      .def("__getstate__", state_of)
      .def("__setstate__", restore)
      .def("__str__", shown)
      .def("__repr__", [](const CallPlan& c) { return cat("<tessera.Plan ", text_of(c), ">"); });
}

}  // namespace tessera::python
