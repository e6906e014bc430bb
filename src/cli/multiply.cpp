// `tessera multiply A B -o C`: reads two matrices from files, multiplies, writes the result.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "process/signals.hpp"
#include "product/bands.hpp"
#include "product/memory.hpp"
#include "product/operand.hpp"
#include "product/ranks.hpp"
#include "product/selected.hpp"
#include "scale/mpi_transport.hpp"
#include "shell/algorithm_options.hpp"
#include "shell/device.hpp"
#include "shell/json_text.hpp"
#include "shell/progress.hpp"
#include "shell/suggest.hpp"
#include "shell/write_file.hpp"
#include "tessera/io/io.hpp"

namespace tessera::cli {

namespace {

using nlohmann::ordered_json;

Plan plan_of(const product::MultiplyRequest& request, const product::Operands& in) {
  Problem problem;
  problem.M = in.M(), problem.N = in.N(), problem.K = in.K();
  problem.in = in.a.dtype(), problem.out = in.type;
  if (in.b.dtype() != in.a.dtype()) problem.in_b = in.b.dtype();
  problem.a = {in.a.row_stride(), in.a.col_stride()};
  problem.b = {in.b.row_stride(), in.b.col_stride()};
  problem.c = {in.N(), 1};
  problem.alpha = request.alpha, problem.beta = request.beta.value_or(0);
  Options options;
  options.algorithm = request.algorithm;
  options.device = shell::named_device(request.device);
  options.threads = request.threads;
  options.arithmetic = parse_arithmetic(request.arithmetic);
  if (!request.tile.empty()) options.tile = parse_tile(request.tile);
  return make_plan(problem, options);
}

// ---- output -------------------------------------------------------------------------------------

std::string summary(const product::MultiplyRequest& request, const product::Operands& in,
                    const Plan& plan, double seconds) {
  const double gflops = seconds > 0 ? plan.problem.flops() / seconds * 1e-9 : 0;
  const std::string target = request.output == "-" ? "stdout" : request.output;
  const std::string tile = plan.tile == TileShape{} ? "" : " " + to_string(plan.tile);
  // The plan has the maximum: fewer threads take part if waking them takes longer than the work.
  const std::string where = plan.device != "cpu" ? plan.device
                            : plan.threads == 1  ? "1 thread"
                                                 : fmt::format("up to {} threads", plan.threads);
  return fmt::format("{}: ({},{}) = ({},{}) * ({},{}) in {}; {}{} on {} ({}); {}, {:.2f} GFLOP/s",
                     target, in.M(), in.N(), in.M(), in.K(), in.K(), in.N(), name(in.type),
                     plan.algorithm, tile, where, plan.reason, shell::duration_text(seconds),
                     gflops);
}

ordered_json plan_json(const Plan& plan) {
  ordered_json rejected = ordered_json::array();
  for (const auto& each : plan.rejected)
    rejected.push_back({{"algorithm", each.algorithm}, {"reason", each.reason}});
  return {{"algorithm", plan.algorithm},  {"arithmetic", name(plan.arithmetic)},
          {"tile", to_string(plan.tile)}, {"threads", plan.threads},
          {"reason", plan.reason},        {"rejected", rejected},
          {"text", to_string(plan)}};
}

ordered_json problem_json(const Problem& problem) {
  const auto number = [](double value) {
    return std::isfinite(value) ? ordered_json(value) : ordered_json();
  };
  return {{"m", problem.M},
          {"n", problem.N},
          {"k", problem.K},
          {"dtype", name(problem.in)},
          {"alpha", number(problem.alpha)},
          {"beta", number(problem.beta)}};
}

void check_request(const shell::Context& context, const product::MultiplyRequest& request) {
  shell::named_device(request.device);
  if (request.output.empty() && !request.dry_run)
    throw Error(Category::argument, "no output named", "-o FILE (or --dry-run)");
  if (request.beta.value_or(0) != 0 && request.c.empty())
    throw Error(Category::argument, "--beta adds to a matrix, but none is given",
                "--c FILE beside --beta");
  if (!request.beta && !request.c.empty())
    throw Error(Category::argument, "--c is given, but without --beta it is not read",
                "--beta Y beside --c");
  if (!request.dtype.empty()) product::require_product(parse_dtype(request.dtype));
  if (request.resume && request.memory == 0)
    throw Error(Category::argument, "--resume is given, but the product is not in blocks",
                "--memory SIZE beside --resume");
  if (request.output == "-" && context.json)
    throw Error(Category::argument, "the result and --json cannot both go to stdout",
                "-o FILE beside --json");
  if (request.output == "-" && shell::is_terminal(shell::Stream::out))
    throw Error(Category::argument, "a matrix is not written to a terminal",
                "-o FILE, or stdout redirected");
  if (int{request.a == "-"} + int{request.b == "-"} + int{request.c == "-"} > 1)
    throw Error(Category::argument, "stdin can be read once only",
                "'-' for at most one of A, B and C0");
}

/// --gram, in the words of a product of two files.
void take_gram(product::MultiplyRequest& request) {
  if (request.gram != request.b.empty())
    throw Error(Category::argument,
                request.gram ? "--gram multiplies A by its transpose" : "B is required",
                request.gram ? "no B" : "two files, or one and --gram");
  if (!request.gram) return;
  if (request.transpose_b)
    throw Error(Category::argument, "--gram cannot be combined with --transpose-b", {}, {},
                "--transpose-a gives the product of A transposed by A");
  if (request.a == "-")
    throw Error(Category::argument, "--gram reads A twice", "a file", "standard input");
  request.b = request.a;
  request.transpose_b = !request.transpose_a;
}

/// One line for each reason.
void say_rejected(const shell::Context& context, const Plan& plan) {
  std::vector<std::pair<std::string_view, std::vector<std::string>>> said;
  for (const auto& [algorithm, reason] : plan.rejected) {
    auto at = std::find_if(said.begin(), said.end(),
                           [&, &why = reason](const auto& line) { return line.first == why; });
    if (at == said.end()) at = said.insert(at, {reason, {}});
    at->second.push_back(algorithm);
  }
  for (const auto& [reason, names] : said)
    context.detail(cat("not ", shell::join(names), ": ", reason));
}

int run_multiply(const shell::Context& context, product::MultiplyRequest request) {
  const auto check = [&] {
    check_request(context, request);
    if (request.selects()) product::check_selection(request);
  };
  if (scale::is_launched()) return product::multiply_on_ranks(context, request, check);
  check();
  const WriteOptions write{
      .format = request.format.empty() ? Format::automatic : parse_format(request.format),
      .overwrite = request.force ? Overwrite::replace : Overwrite::refuse};
  // refused now, not after hours of work
  if (!request.dry_run) check_output(request.output, write);
  if (request.memory == 0) request.memory = product::default_limit(request);
  if (request.selects() && request.memory == 0) return product::multiply_selected(context, request);
  if (request.memory > 0) return product::multiply_in_memory(context, request);
  const product::Operands in = product::read_operands(context, request);
  const Plan plan = plan_of(request, in);
  say_rejected(context, plan);
  if (request.dry_run) {
    if (context.json)
      context.print(
          shell::json_text({{"problem", problem_json(plan.problem)}, {"plan", plan_json(plan)}}));
    else context.print_wrapped(to_string(plan) + "\n");
    return 0;
  }
  shell::note_other_names(context, parse_location(request.output).path);
  product::Target target(request.output, in.type, in.M(), in.N(), write);
  const product::Outcome outcome = product::multiply_in_bands(context, request, plan, in, target);
  const double seconds = outcome.seconds;
  ordered_json verified;
  if (request.verify) {
    verified = {{"max_error_ratio", outcome.max_error_ratio}, {"same_bits", outcome.same_bits}};
    context.note(fmt::format("verified: every element within {:.3g} of its error bound{}",
                             outcome.max_error_ratio,
                             outcome.same_bits ? ", the same bits as the reference" : ""));
  }
  {
    const shell::Progress progress(context, "writing", 1);
    target.commit();
  }
  context.note(summary(request, in, plan, seconds));
  if (context.json) {
    const double flops = plan.problem.flops();
    context.print(shell::json_text({{"output", request.output},
                                    {"problem", problem_json(plan.problem)},
                                    {"plan", plan_json(plan)},
                                    {"seconds", seconds},
                                    {"gflops", seconds > 0 ? flops / seconds * 1e-9 : 0.0},
                                    {"verified", verified}}));
  }
  return 0;
}

}  // namespace

void add_multiply(CLI::App& root, shell::Context& context) {
  // A launcher ends the ranks of a job by signals: one line is enough.
  if (scale::is_launched()) process::silence_signals();
  auto request = std::make_shared<product::MultiplyRequest>();
  request->device = shell::default_device();
  CLI::App* app = shell::add_command(
      root, context, "multiply", "Multiply two matrices from files: C = alpha * A * B + beta * C0",
      "  tessera multiply a.npy b.npy -o c.npy\n"
      "  tessera multiply digits.npy digits.npy --transpose-b -o similarity.npy --verify\n"
      "  tessera multiply a.mtx model.safetensors:weight -o c.npz --dtype f64 --force\n"
      "  tessera multiply a.npy b.npy --beta 1 --c c0.npy -o c.npy\n"
      "  tessera multiply a.npy --gram --top 10 -o nearest.npz\n"
      "  tessera multiply a.npy b.npy --dry-run");
  shell::add_argument(*app, "A", "FILE", request->a,
                      "Left matrix: .npy, .npz[:NAME], .mtx, .safetensors[:NAME], - for stdin");
  shell::add_argument(*app, "B", "FILE", request->b, "Right matrix")->required(false);
  shell::add_flag(*app, "--gram", request->gram, "Multiply A by its transpose; give no B");
  shell::add_text(*app, "-o,--output", "FILE", request->output, "Output file; - for stdout");
  shell::add_flag(*app, "--transpose-a", request->transpose_a, "Use A transposed");
  shell::add_flag(*app, "--transpose-b", request->transpose_b, "Use B transposed");
  shell::add_number(*app, "--alpha", request->alpha, "Factor of the product (default 1)");
  shell::add_number(*app, "--beta", request->beta, "Factor of C0 (default 0); needs --c");
  shell::add_text(*app, "--c", "FILE", request->c,
                  "C0, of the shape of the product; with --beta 0 its elements are not read");
  shell::add_dtype(
      *app, "--dtype", request->dtype,
      "Type of the product, if nothing but rounding is lost; default: by the inputs, see "
      "'tessera help types'");
  shell::add_algorithm(*app, "--algorithm", request->algorithm,
                       "Algorithm (default auto), see 'tessera help algorithms'");
  shell::add_choice(*app, "--arithmetic", request->arithmetic, {"chain", "lanes"},
                    "Order of summation of f32 and f64 on the CPU: chain (default), or lanes for "
                    "products in dot form");
  shell::add_text(*app, "--tile", "TILE", request->tile,
                  "Tile, such as 32x32x32 or 128,128,8/8,8; default: the algorithm's own");
  shell::add_text(*app, "--device", "cpu|cuda:0|opencl:0", request->device,
                  "Where to run: cpu (default) or a GPU");
  shell::add_threads(*app, request->threads);
  shell::add_bytes(*app, "--memory", request->memory,
                   "Memory limit, such as 2GiB: see 'tessera plan'; C is a .npy file");
  shell::add_number(*app, "--top", request->top,
                    "Write only this many largest entries of each row, as a sparse .npz");
  shell::add_number(*app, "--above", request->above,
                    "Write only the entries above this value, as a sparse .npz");
  shell::add_flag(
      *app, "--resume", request->resume,
      "With --memory: keep finished blocks after an interruption, and resume from them");
  shell::add_flag(*app, "--force", request->force, "Replace an output that exists");
  shell::add_choice(*app, "--format", request->format, {"npy", "npz", "mtx", "safetensors"},
                    "Output format; default: by the extension of the name");
  shell::add_flag(*app, "--verify", request->verify,
                  "Check every element against its error bound before writing");
  shell::add_flag(*app, "--dry-run", request->dry_run,
                  "Read the inputs and report the plan; write nothing");
  shell::add_json_option(*app, context, "One JSON document about what was done on stdout");
  shell::on_run(*app, context, [&context, request] {
    take_gram(*request);
    return run_multiply(context, *request);
  });
}

}  // namespace tessera::cli
