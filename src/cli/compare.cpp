// `tessera compare`: one product by every algorithm. Each result is checked element by element
// against a more precise product and its error bound, and against the bits that all algorithms
// promise. Exit code 1 if a check fails.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "commands.hpp"
#include "device/device_names.hpp"
#include "product/comparison_report.hpp"
#include "shell/algorithm_options.hpp"
#include "shell/device.hpp"
#include "shell/json_text.hpp"
#include "shell/machine.hpp"
#include "shell/suggest.hpp"
#include "shell/types.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/core/random.hpp"
#include "tessera/core/text.hpp"
#include "tessera/device/devices.hpp"
#include "tessera/io/array.hpp"
#include "tessera/matmul/matmul.hpp"
#include "tessera/matmul/verify.hpp"

namespace tessera::cli {

namespace {

constexpr const char* kAllDevices = "all";

struct CompareRequest {
  index_t m = -1, n = -1, k = -1;
  std::string dtype = "f32", tile, order = "forward", data = "uniform", device = "cpu";
  std::vector<std::string> algorithms;  // empty: all
  std::uint64_t seed = 0;
  int threads = 0;
  double alpha = 1, beta = 0;
  bool list = false;
};

Problem problem_of(const CompareRequest& request, const shell::Types& types) {
  Problem out;
  out.M = request.m, out.N = request.n, out.K = request.k;
  out.in = types.in, out.out = types.out;
  if (types.in_b != types.in) out.in_b = types.in_b;
  // The strides that make_array gives, 1 for empty extents.
  const auto rows = [](index_t extent) { return std::max<index_t>(1, extent); };
  out.a = {rows(request.k), 1}, out.b = {rows(request.n), 1}, out.c = {rows(request.n), 1};
  out.alpha = request.alpha, out.beta = request.beta;
  return out;
}

/// Refuses a product that does not fit in memory, with both sizes, before allocating.
void check_size(const CompareRequest& request, const shell::Types& types) {
  const double m = static_cast<double>(request.m), n = static_cast<double>(request.n),
               k = static_cast<double>(request.k);
  const auto bytes = [&](index_t of_a, index_t of_b) {
    return m * k * static_cast<double>(of_a) + k * n * static_cast<double>(of_b);
  };
  const index_t of_sums = std::max<index_t>(4, size_of(types.in));
  const double results = m * n * static_cast<double>(size_of(types.out));
  shell::require_memory(bytes(size_of(types.in), size_of(types.in_b)) + bytes(of_sums, of_sums) +
                            results * (request.beta != 0 ? 2 : 1) +
                            static_cast<double>(kVerifierBytes) * m * n,
                        fmt::format("comparing {} x {} x {} in {} (and the exact result)",
                                    request.m, request.n, request.k, to_string(types)));
}

/// Reports failed checks on stderr, in one line; returns the exit code.
int judged(const shell::Context& context, const std::vector<product::Compared>& results) {
  std::vector<std::string> bad;
  std::string first;
  for (const auto& result : results) {
    if (result.status == product::Status::unsupported)
      context.detail(cat(result.algorithm->name, " skipped: ", result.reason));
    if (result.status == product::Status::ok || result.status == product::Status::unsupported)
      continue;
    bad.emplace_back(who(result));
    if (first.empty()) first = result.reason;
  }
  if (bad.empty()) return 0;
  if (bad.size() == 1) context.error(cat(bad.front(), ": ", first));
  else
    context.error(cat(bad.size(), " failed: ", shell::join(bad), "; ", bad.front(), ": ", first));
  return 1;
}

/// The devices of a request: one, or with `all` each that has products.
std::vector<std::string> devices_of(const CompareRequest& request) {
  if (in_lower_case(request.device) != kAllDevices) return {shell::named_device(request.device)};
  std::vector<std::string> out;
  for (const auto& each : devices()) {
    try {
      (void)make_plan(Problem{}, {.device = to_string(each.device)});
      out.push_back(to_string(each.device));
    } catch (const Error&) {  // checked, or a device for which this build has no kernels
    }
  }
  shell::drivers_may_crash();
  return out;
}

/// All plans first: a named algorithm that cannot run is refused before any work.
product::Candidates planned(const CompareRequest& request, const Problem& problem, Options options,
                            const std::vector<std::string>& devices) {
  // throws the reason if no algorithm can run it
  if (devices.size() == 1) (void)make_plan(problem, {.device = devices.front()});
  const bool all = request.algorithms.empty();
  product::Candidates out;
  for (const auto& name : all ? shell::algorithm_names() : request.algorithms) {
    for (const auto& device : devices) {
      options.algorithm = name;
      options.device = device;
      out.results.push_back({.algorithm = &find_algorithm(name), .device = device});
      out.plans.emplace_back();
      try {
        out.plans.back() = make_plan(problem, options);
      } catch (const Error& error) {
        if (!all && devices.size() == 1) throw;
        out.results.back().reason = error.problem();
      }
    }
  }
  if (std::none_of(out.plans.begin(), out.plans.end(), [](const auto& plan) { return plan; }))
    throw Error(Category::argument, cat("no algorithm can run this: ", out.results.front().reason));
  return out;
}

void check_request(const CompareRequest& request, const shell::Types& types) {
  for (const auto& [flag, value] :
       {std::pair{"-m", request.m}, {"-n", request.n}, {"-k", request.k}}) {
    if (value < 0) throw Error(Category::argument, cat(flag, " is missing"), "-m M -n N -k K");
  }
  if (!std::isfinite(request.alpha) || !std::isfinite(request.beta))
    throw Error(Category::argument, "alpha and beta must be finite numbers here", {},
                cat("alpha ", request.alpha, ", beta ", request.beta));
  require_product(types);
  check_size(request, types);
}

int run_compare(const shell::Context& context, const CompareRequest& request) {
  if (request.list) {
    context.print_wrapped(algorithms_page());
    return 0;
  }
  const shell::Types types = shell::parse_types(request.dtype);
  check_request(request, types);
  Options options;
  const auto devices = devices_of(request);
  options.threads = request.threads > 0 ? request.threads : default_threads();
  options.order = parse_order(request.order);
  options.seed = request.seed;
  if (!request.tile.empty()) options.tile = parse_tile(request.tile);
  const std::string data = types.in == DType::i32 || is_byte(types.in) ? "integers" : request.data;
  const Problem problem = problem_of(request, types);
  product::Candidates candidates = planned(request, problem, options, devices);

  const Array A = make_array(types.in, {problem.M, problem.K}),
              B = make_array(types.in_b, {problem.K, problem.N}),
              C = make_array(types.out, {problem.M, problem.N});
  const Array C0 = problem.beta != 0 ? make_array(types.out, {problem.M, problem.N}) : C;
  const std::uint64_t stream = random_bits(request.seed, 0);
  product::fill(A, data, random_bits(stream + 1, 0), options.threads);
  product::fill(B, data, random_bits(stream + 2, 0), options.threads);
  if (problem.beta != 0) product::fill(C0, data, random_bits(stream + 3, 0), options.threads);
  product::compare_all(context, candidates, A, B, C, C0, problem, options.threads);

  const product::Comparison comparison{problem, data,         request.order,
                                       devices, request.seed, options.threads};
  if (context.json) context.print(shell::json_text(to_json(comparison, candidates.results)));
  else context.print(to_table(context, comparison, candidates.results));
  context.flush();
  return judged(context, candidates.results);
}

}  // namespace

void add_compare(CLI::App& root, shell::Context& context) {
  auto request = std::make_shared<CompareRequest>();
  request->device = shell::default_device();
  CLI::App* app = shell::add_command(
      root, context, "compare", "Run one product by every algorithm and check each result",
      "  tessera compare -m 1024 -n 1024 -k 1024\n"
      "  tessera compare -m 229 -n 1 -k 3 --dtype f64 --order shuffled --seed 7\n"
      "  tessera compare -m 256 -n 256 -k 256 --algorithms naive,tiled --json | jq .results");
  shell::add_extent(*app, "-m", request->m, "Rows of A and C (required)");
  shell::add_extent(*app, "-n", request->n, "Columns of B and C (required)");
  shell::add_extent(*app, "-k", request->k, "Columns of A, rows of B (required)");
  shell::add_checked(
      *app, "--dtype",
      [request](const std::string& text) { request->dtype = to_string(shell::parse_types(text)); },
      cat("Element type: ", shell::join(shell::product_dtype_names()),
          "; or of A and B and of C, bf16:f32, or of each, u8:i8:i32; default ", request->dtype),
      "TYPE");
  shell::add_algorithms(*app, "--algorithms", request->algorithms,
                        "Algorithms joined by commas, in output order, or all (default)");
  shell::add_text(*app, "--tile", "TILE", request->tile,
                  "Tile, such as 32x32x32 or 128,128,8/8,8; default: each algorithm's own");
  shell::add_text(*app, "--device", "cpu|cuda:0|opencl:0|all", request->device,
                  "Where to run: cpu (default), a GPU, or every device of the machine");
  shell::add_seed(*app, "--seed", request->seed,
                  "Seed of the data and of the orders shuffled and late (default 0)");
  shell::add_choice(*app, "--order", request->order,
                    {kThreadOrderNames.begin(), kThreadOrderNames.end()},
                    "Order in which a block's threads run between two barriers (default forward)");
  shell::add_threads(*app, request->threads);
  shell::add_number(*app, "--alpha", request->alpha, "C = alpha * A * B + beta * C (default 1)");
  shell::add_number(*app, "--beta", request->beta,
                    "See --alpha (default 0: C starts as NaN and must not be read)");
  shell::add_choice(*app, "--data", request->data, {"uniform", "integers", "graded"},
                    "Elements in [-1,1) (default), from -8 to 8, or of many magnitudes");
  shell::add_flag(*app, "--list", request->list,
                  "List the algorithms with their tiles and types, and exit");
  shell::add_json_option(*app, context, "One JSON document on stdout");
  shell::on_run(*app, context, [&context, request] { return run_compare(context, *request); });
}

}  // namespace tessera::cli
