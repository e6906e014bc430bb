// `tessera compare`: one product by every algorithm; each result is checked, element by element,
// against a more precise product, its error bound and the bits that all algorithms promise. Exit
// code 1 when one of them does not hold.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "commands.hpp"
#include "device.hpp"
#include "json_text.hpp"
#include "machine.hpp"
#include "operand.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "suggest.hpp"
#include "table.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/io/array.hpp"
#include "tessera/matmul/matmul.hpp"
#include "tessera/matmul/verify.hpp"

namespace tessera::cli {

namespace {

using nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

/// What the Verifier keeps for each element of C: exact value in two parts, bounds, the chain's
/// bits.
constexpr double kVerifierBytes = 32;

struct Request {
  index_t m = -1, n = -1, k = -1;
  std::string dtype = "f32", tile, order = "forward", data = "uniform", device = "cpu";
  std::vector<std::string> algorithms;  // empty: all
  std::uint64_t seed = 0;
  int threads = 0;
  double alpha = 1, beta = 0;
  bool list = false;
};

enum class Status { ok, out_of_bound, different_bits, failed, unsupported };

std::string_view name(Status status) {
  constexpr std::string_view names[] = {"ok", "out_of_bound", "different_bits", "failed",
                                        "unsupported"};
  return names[static_cast<int>(status)];
}

struct Result {
  const Algorithm* algorithm = nullptr;
  Status status = Status::unsupported;
  TileShape tile = {};
  std::string reason = {};  ///< why it is not ok
  Verification found = {};
  double seconds = 0, gflops = 0;
};

// ---- data ---------------------------------------------------------------------------------------

/// 64 well-mixed bits of a number: the finaliser of SplitMix64 (Steele, Lea, Flood: "Fast
/// splittable pseudorandom number generators", 2014).
constexpr std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// The element with number `at`: a function of seed and position alone, so that threads do not
/// matter.
double value_at(const std::string& data, DType type, std::uint64_t stream, index_t at) {
  const std::uint64_t bits = mixed(stream + static_cast<std::uint64_t>(at));
  if (data == "integers" || type == DType::i32) return static_cast<double>(bits % 17) - 8;
  const double unit = static_cast<double>(bits >> 11) * 0x1p-52 - 1;  // [-1, 1)
  if (data == "uniform") return unit;
  const int widest = type == DType::f16 ? 8 : 24;  // graded: magnitudes over many powers of two
  return std::ldexp(unit, -static_cast<int>(mixed(bits) % static_cast<std::uint64_t>(widest)));
}

void fill(const Array& out, const std::string& data, std::uint64_t stream, int threads) {
  const index_t count = out.count(), piece = 1 << 16;
  visit_dtype(out.dtype(), [&]<class T>(TypeTag<T>) {
    T* const to = static_cast<T*>(out.writable());
    parallel_for((count + piece - 1) / piece, threads, [&](index_t p) {
      for (index_t i = p * piece; i < std::min(count, (p + 1) * piece); ++i)
        to[i] = convert<T>(value_at(data, out.dtype(), stream, i));
    });
  });
}

/// What C holds before the product: C0, or what no product may leave standing.
void reset(const Array& C, const Array& C0, double beta) {
  if (C.count() == 0) return;
  if (beta != 0) std::memcpy(C.writable(), C0.data(), static_cast<std::size_t>(C.bytes()));
  else
    std::memset(C.writable(), C.dtype() == DType::i32 ? 0x5a : 0xff,
                static_cast<std::size_t>(C.bytes()));  // NaN
}

// ---- one algorithm ------------------------------------------------------------------------------

Result compare_one(const Algorithm& algorithm, const Plan& plan, const ConstMatrix& A,
                   const ConstMatrix& B, const Array& C, const Array& C0,
                   const Verifier& verifier) {
  Result out{.algorithm = &algorithm, .status = Status::ok, .tile = plan.tile};
  try {
    reset(C, C0, plan.problem.beta);
    const auto start = Clock::now();
    run(plan, A, B, matrix_of(C));
    out.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    out.gflops = out.seconds > 0 ? plan.problem.flops() / out.seconds * 1e-9 : 0;
    const bool units = algorithm.name == "tensor_core" && plan.problem.in == DType::f32;
    out.found = verifier.check(const_matrix_of(C), units ? Arithmetic::tf32 : Arithmetic::native);
  } catch (const std::exception& error) {
    out.status = Status::failed;
    out.reason = error.what();
    return out;
  }
  const bool promised =
      algorithm.same_bits && (plan.problem.in == DType::f32 || plan.problem.in == DType::f64);
  if (!out.found.within_bound) {
    out.status = Status::out_of_bound;
    out.reason =
        fmt::format("{} of {} elements beyond the error bound, first C({},{}): expected {}, got {}",
                    out.found.outside, C.count(), out.found.row, out.found.col, out.found.expected,
                    out.found.got);
  } else if (promised && !out.found.same_bits) {
    out.status = Status::different_bits;
    out.reason = "within the error bound, but not the bits that this algorithm promises";
  }
  return out;
}

// ---- output -------------------------------------------------------------------------------------

bool ran(const Result& result) {
  return result.status != Status::unsupported && result.status != Status::failed;
}

/// NaN and infinity have no JSON number.
ordered_json number_or_null(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json();
}

ordered_json to_json(const Request& request, const Problem& problem, int threads,
                     const std::vector<Result>& results) {
  ordered_json out;
  out["problem"] = {{"m", problem.M},
                    {"n", problem.N},
                    {"k", problem.K},
                    {"dtype", tessera::name(problem.in)},
                    {"alpha", number_or_null(problem.alpha)},
                    {"beta", number_or_null(problem.beta)},
                    {"data", request.data},
                    {"seed", request.seed},
                    {"order", request.order},
                    {"threads", threads},
                    {"flops", problem.flops()}};
  out["results"] = ordered_json::array();
  for (const auto& result : results) {
    const bool has = ran(result);
    ordered_json row;
    row["algorithm"] = result.algorithm->name;
    row["device"] = request.device;
    row["status"] = name(result.status);
    row["same_bits"] = has ? ordered_json(result.found.same_bits) : ordered_json();
    row["max_error_ratio"] = has ? number_or_null(result.found.max_error_ratio) : ordered_json();
    row["seconds"] = has ? ordered_json(result.seconds) : ordered_json();
    row["gflops"] = has ? ordered_json(result.gflops) : ordered_json();
    row["tile"] =
        result.tile == TileShape{} ? ordered_json() : ordered_json(to_string(result.tile));
    if (has) row["outside"] = result.found.outside;
    if (has && result.found.outside > 0) {
      row["first_wrong"] = {{"row", result.found.row},
                            {"col", result.found.col},
                            {"expected", number_or_null(result.found.expected)},
                            {"got", number_or_null(result.found.got)}};
    }
    if (!result.reason.empty()) row["reason"] = result.reason;
    out["results"].push_back(row);
  }
  return out;
}

std::string to_table(const Context& context, const Request& request, const Problem& problem,
                     int threads, const std::vector<Result>& results) {
  Table table({{"algorithm"},
               {"tile"},
               {"status"},
               {"same bits"},
               {"error/bound", Align::right},
               {"time", Align::right},
               {"GFLOP/s", Align::right},
               {"idea"}});
  for (const auto& result : results) {
    const Ink ink = result.status == Status::ok            ? Ink::green
                    : result.status == Status::unsupported ? Ink::dim
                                                           : Ink::red;
    const bool has = ran(result);
    table.add({std::string(result.algorithm->name),
               result.status == Status::unsupported ? "" : to_string(result.tile),
               context.paint(name(result.status), ink),
               has ? (result.found.same_bits ? "yes" : "no") : "",
               has ? fmt::format("{:.3g}", result.found.max_error_ratio) : "",
               has ? duration_text(result.seconds) : "",
               has ? fmt::format("{:.2f}", result.gflops) : "",
               std::string(result.algorithm->idea)});
  }
  std::string formula = problem.alpha == 1 ? "A * B" : cat(problem.alpha, " * A * B");
  if (problem.beta != 0) formula += cat(" + ", problem.beta, " * C0");
  std::string reasons;
  for (const auto& result : results) {
    if (result.reason.empty()) continue;
    // A refused plan already begins with the name.
    const bool named = result.reason.starts_with(result.algorithm->name);
    reasons += named ? result.reason + "\n"
                     : fmt::format("{}: {}\n", result.algorithm->name, result.reason);
  }
  return fmt::format(
      "C = {}, {}: A ({},{}), B ({},{}), {} data with seed {}, threads of a block {}, {} "
      "core{}\n\n{}{}",
      formula, tessera::name(problem.in), problem.M, problem.K, problem.K, problem.N, request.data,
      request.seed, request.order, threads, threads == 1 ? "" : "s",
      table.text(terminal_columns(Stream::out)), reasons.empty() ? "" : "\n" + reasons);
}

// ---- the command --------------------------------------------------------------------------------

Problem problem_of(const Request& request, DType type) {
  Problem out;
  out.M = request.m, out.N = request.n, out.K = request.k;
  out.in = out.out = type;
  // The strides that make_array gives, 1 for empty extents.
  const auto rows = [](index_t extent) { return std::max<index_t>(1, extent); };
  out.a = {rows(request.k), 1}, out.b = {rows(request.n), 1}, out.c = {rows(request.n), 1};
  out.alpha = request.alpha, out.beta = request.beta;
  return out;
}

/// Refuses what cannot be held in memory, with both numbers, before anything is allocated.
void check_size(const Request& request, DType type) {
  const double m = static_cast<double>(request.m), n = static_cast<double>(request.n),
               k = static_cast<double>(request.k);
  const double operands = (m * k + k * n + m * n * (request.beta != 0 ? 2 : 1)) * size_of(type);
  require_memory(
      operands + kVerifierBytes * m * n +
          (type == DType::f16 || type == DType::bf16 ? 4 : size_of(type)) * (m * k + k * n),
      fmt::format("comparing {} x {} x {} in {} (with the exact result beside)", request.m,
                  request.n, request.k, tessera::name(type)));
}

/// Says on stderr what does not hold, in one line; the exit code.
int judged(const Context& context, const std::vector<Result>& results) {
  std::vector<std::string> bad;
  std::string first;
  for (const auto& result : results) {
    if (result.status == Status::unsupported)
      context.detail(cat(result.algorithm->name, " left out: ", result.reason));
    if (result.status == Status::ok || result.status == Status::unsupported) continue;
    bad.emplace_back(result.algorithm->name);
    if (first.empty()) first = result.reason;
  }
  if (bad.empty()) return 0;
  if (bad.size() == 1) context.error(cat(bad.front(), ": ", first));
  else
    context.error(
        cat(bad.size(), " algorithms failed: ", join(bad), "; ", bad.front(), ": ", first));
  return 1;
}

int run_compare(const Context& context, const Request& request) {
  if (request.list) {
    context.print(algorithms_page());
    return 0;
  }
  for (const auto& [flag, value] :
       {std::pair{"-m", request.m}, {"-n", request.n}, {"-k", request.k}}) {
    if (value < 0) throw Error(Category::argument, cat(flag, " is missing"), "-m M -n N -k K");
  }
  const DType type = named_dtype(request.dtype);
  named_device(request.device);
  if (!std::isfinite(request.alpha) || !std::isfinite(request.beta))
    throw Error(Category::argument, "alpha and beta must be finite numbers here", {},
                cat("alpha ", request.alpha, ", beta ", request.beta));
  require_product(type);
  check_size(request, type);

  Options options;
  options.threads = request.threads > 0 ? request.threads : default_threads();
  options.order = parse_order(request.order);
  options.seed = request.seed;
  if (!request.tile.empty()) options.tile = parse_tile(request.tile);

  // All plans first: what is named and cannot run is refused before any work.
  const Problem problem = problem_of(request, type);
  (void)make_plan(problem);  // what no algorithm could run is said as it is
  const bool all = request.algorithms.empty();
  std::vector<Result> results;
  std::vector<std::optional<Plan>> plans;
  for (const auto& algorithm : algorithms()) {
    const std::string algorithm_name(algorithm.name);
    if (!all && std::find(request.algorithms.begin(), request.algorithms.end(), algorithm_name) ==
                    request.algorithms.end())
      continue;
    results.push_back({.algorithm = &algorithm});
    plans.emplace_back();
    options.algorithm = algorithm_name;
    try {
      plans.back() = make_plan(problem, options);
    } catch (const Error& error) {
      if (!all) throw;
      results.back().reason = error.problem();
    }
  }
  if (std::none_of(plans.begin(), plans.end(), [](const auto& plan) { return plan.has_value(); }))
    throw Error(Category::argument, cat("no algorithm can run this: ", results.front().reason));

  Progress progress(context, "preparing", static_cast<double>(results.size()) + 3);
  const Array A = make_array(type, {problem.M, problem.K}),
              B = make_array(type, {problem.K, problem.N});
  const Array C = make_array(type, {problem.M, problem.N});
  const Array C0 = problem.beta != 0 ? make_array(type, {problem.M, problem.N}) : C;
  const std::uint64_t stream = mixed(request.seed);
  fill(A, request.data, mixed(stream + 1), options.threads);
  fill(B, request.data, mixed(stream + 2), options.threads);
  if (problem.beta != 0) fill(C0, request.data, mixed(stream + 3), options.threads);

  progress.label("exact product");
  const Verifier verifier(problem, const_matrix_of(A), const_matrix_of(B), const_matrix_of(C0),
                          nullptr, options.threads, [&](index_t done, index_t total) {
                            progress.update(3.0 * static_cast<double>(done) /
                                            static_cast<double>(std::max<index_t>(1, total)));
                          });
  for (std::size_t i = 0; i < results.size(); ++i) {
    progress.label(std::string(results[i].algorithm->name));
    progress.update(3.0 + static_cast<double>(i));
    if (plans[i])
      results[i] = compare_one(*results[i].algorithm, *plans[i], const_matrix_of(A),
                               const_matrix_of(B), C, C0, verifier);
  }
  progress.finish();

  if (context.json) context.print(json_text(to_json(request, problem, options.threads, results)));
  else context.print(to_table(context, request, problem, options.threads, results));
  context.flush();
  return judged(context, results);
}

}  // namespace

void add_compare(CLI::App& root, Context& context) {
  auto request = std::make_shared<Request>();
  CLI::App* app = add_command(
      root, context, "compare", "Run one product by every algorithm and check each result",
      "  tessera compare -m 1024 -n 1024 -k 1024\n"
      "  tessera compare -m 229 -n 1 -k 3 --dtype f64 --order shuffled --seed 7\n"
      "  tessera compare -m 256 -n 256 -k 256 --algorithms naive,tiled --json | jq .results");
  add_extent(*app, "-m", request->m, "Rows of A and C (required)");
  add_extent(*app, "-n", request->n, "Columns of B and C (required)");
  add_extent(*app, "-k", request->k, "Columns of A, rows of B (required)");
  add_dtype(*app, "--dtype", request->dtype, "Element type: f64, f32 (default), f16, bf16 or i32");
  add_algorithms(*app, "--algorithms", request->algorithms,
                 "Algorithms joined by commas, or all (default)");
  app->add_option("--tile", request->tile,
                  "Tile, such as 32x32x32 or 128,128,8/8,8; default: each algorithm's own")
      ->type_name("TILE");
  app->add_option("--device", request->device, "Where to run: cpu")->type_name("cpu|cuda:0");
  add_seed(*app, "--seed", request->seed, "Seed of the data and of shuffled orders (default 0)");
  add_choice(*app, "--order", request->order, {"forward", "backward", "shuffled"},
             "Order in which a block's threads run between two barriers (default forward)");
  add_threads(*app, request->threads);
  add_number(*app, "--alpha", request->alpha, "C = alpha * A * B + beta * C (default 1)");
  add_number(*app, "--beta", request->beta,
             "See --alpha (default 0: C starts as NaN and must not be read)");
  add_choice(*app, "--data", request->data, {"uniform", "integers", "graded"},
             "Elements in [-1,1) (default), from -8 to 8, or of many magnitudes");
  app->add_flag("--list", request->list, "List the algorithms with their tiles and types, and end");
  add_json_option(*app, context, "One JSON document on stdout");
  app->callback([&context, request] {
    context.action = [&context, request] { return run_compare(context, *request); };
  });
}

}  // namespace tessera::cli
