// `tessera explain --cpu`: the route of a product through the packed CPU path, the variants that
// were not taken and why.
#include "explain_cpu.hpp"

#include "bench/sizes.hpp"
#include "matmul/explain_packed.hpp"
#include "shell/context.hpp"
#include "shell/json_text.hpp"
#include "shell/table.hpp"
#include "shell/types.hpp"
#include "tessera/core/cpu.hpp"
#include "tessera/core/text.hpp"

namespace tessera::cli {

namespace {

Problem problem_of(const bench::Shape& shape, const shell::Types& types, double beta) {
  shell::require_product(types);
  Problem p{.M = shape.M, .N = shape.N, .K = shape.K, .in = types.in, .out = types.out};
  p.beta = beta;
  if (types.in_b != types.in) p.in_b = types.in_b;
  p.a = shape.a_transposed ? Strides{1, shape.M} : Strides{shape.K, 1};
  p.b = shape.b_transposed ? Strides{1, shape.K} : Strides{shape.N, 1};
  p.c = {shape.N, 1};
  return p;
}

/// "1000 8 64" is 1000x8x64.
bench::Shape shape_of(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += cat(text.empty() ? "" : "x", word);
  const std::vector<bench::Shape> shapes = bench::parse_sizes(text);
  if (shapes.size() != 1 || shapes[0].batch != 1 || shapes[0].updates)
    throw Error(Category::argument, "--cpu explains one product", "M N K, or 1000x8x64-NT", text);
  return shapes[0];
}

}  // namespace

int explain_cpu(const shell::Context& context, const CpuRequest& request) {
  const bench::Shape shape = shape_of(request.size);
  const Plan plan = make_plan(problem_of(shape, shell::parse_types(request.dtype), request.beta),
                              {.algorithm = "packed",
                               .threads = request.threads,
                               .arithmetic = parse_arithmetic(request.arithmetic)});
  const cpu::RouteExplanation said = detail::explain_packed(plan);
  const std::string what =
      cat(bench::full_text(shape), " ", request.dtype, " on ", name(vector_path()));
  if (context.json) {
    auto out = shell::json_object();
    out["product"] = what;
    out["route"] = said.route.name;
    out["reason"] = said.route.reason;
    out["threads"] = said.route.threads;
    out["choices"] = said.choices;
    out["candidates"] = nlohmann::ordered_json::array();
    for (const auto& candidate : said.candidates)
      out["candidates"].push_back({{"route", candidate.name}, {"why_not", candidate.why_not}});
    out["fields"] = said.fields;
    context.print(shell::json_text(out));
    return 0;
  }
  std::string text = cat(what, ": ", said.route.name, ", ", said.route.reason, "\n");
  for (const std::string& choice : said.choices) text += cat("  ", choice, "\n");
  shell::Table table({{"route"}, {"why not"}}, shell::Narrow::wrapped);
  for (const auto& candidate : said.candidates)
    table.add(
        {std::string(candidate.name), candidate.why_not.empty() ? "taken" : candidate.why_not});
  if (!said.candidates.empty())
    text += cat("\n", table.text(shell::terminal_columns(shell::Stream::out)));
  context.print(text);
  return 0;
}

}  // namespace tessera::cli
