// `tessera check NAME`: one kernel of the ladder under the checker, on seeded numbers of any shape;
// `tessera check FILE.cpp`: a kernel of the user's own.
// Exit code 0 when it is clean, 1 with findings, 4 when it could not be checked.
#include "tessera/check/check.hpp"

#include <algorithm>

#include "check_file.hpp"
#include "commands.hpp"
#include "operand.hpp"
#include "options.hpp"
#include "suggest.hpp"
#include "tessera/check/format.hpp"
#include "tessera/core/random.hpp"
#include "tessera/io/array.hpp"
#include "tessera/io/atomic_file.hpp"
#include "tessera/matmul/check.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::cli {

namespace {

/// No multiple of any tile, so that every edge is met.
constexpr index_t kDefaultExtent = 100;
constexpr int kDefaultSeconds = 60;

struct Request {
  std::string name, dtype = "f32", tile, order = "forward", device = "h200", junit;
  index_t m = kDefaultExtent, n = kDefaultExtent, k = kDefaultExtent;
  std::uint64_t seed = 0;
  int threads = 0, blocks = 0, seconds = kDefaultSeconds;
  double beta = 0;
  bool counters_only = false, forget_tiles = false, force = false;
};

std::string named_kernel(const std::string& text) {
  const auto known = checked_algorithms();
  if (std::find(known.begin(), known.end(), text) != known.end()) return text;
  const std::string near = nearest(text, known);
  throw Error(Category::argument, cat("unknown kernel '", text, "'"), "one of " + join(known), {},
              near.empty() ? "" : "did you mean '" + near + "'?");
}

/// Whole numbers from -8 to 8, so that every type holds them.
void fill(const Array& out, std::uint64_t seed, std::uint64_t stream) {
  visit_dtype(out.dtype(), [&]<class T>(TypeTag<T>) {
    T* const to = static_cast<T*>(out.writable());
    for (index_t i = 0; i < out.count(); ++i) {
      const auto bits = random_bits(seed + stream, static_cast<std::uint64_t>(i));
      to[i] = convert<T>(static_cast<double>(bits % 17) - 8);
    }
  });
}

check::Report report_of(const Request& request) {
  const DType type = parse_dtype(request.dtype);
  const Array A = make_array(type, {request.m, request.k}),
              B = make_array(type, {request.k, request.n}),
              C = make_array(type, {request.m, request.n});
  fill(A, request.seed, 1);
  fill(B, request.seed, 2);
  fill(C, request.seed, 3);
  Options options;
  options.algorithm = request.name;
  if (!request.tile.empty()) options.tile = parse_tile(request.tile);
  options.threads = request.threads;
  options.order = parse_order(request.order);
  options.seed = request.seed;
  const Plan plan = make_plan(
      make_problem(const_matrix_of(A), const_matrix_of(B), matrix_of(C), 1, request.beta), options);
  check::Options how;
  how.blocks = request.blocks;
  how.time_limit_s = request.seconds;
  how.correctness = !request.counters_only;
  how.forget_tiles = request.forget_tiles;
  return check_matmul(plan, const_matrix_of(A), const_matrix_of(B), matrix_of(C), how);
}

/// The options that a file's own check takes: its shapes, tiles and data are its own.
std::vector<std::string> file_arguments(const Context& context, const Request& request) {
  return {cat("order=", request.order),
          cat("seed=", request.seed),
          cat("threads=", request.threads),
          cat("blocks=", request.blocks),
          cat("time_limit_s=", request.seconds),
          cat("correctness=", request.counters_only ? 0 : 1),
          cat("forget_tiles=", request.forget_tiles ? 1 : 0),
          cat("format=", context.json ? "json" : "text"),
          cat("device=", request.device),
          cat("junit=", request.junit)};
}

int run_check(const Context& context, const Request& request) {
  if (request.name.ends_with(".cpp") || request.name.find('/') != std::string::npos) {
    static_cast<void>(check::device_model(request.device));  // refused before anything is compiled
    return check_file(request.name, file_arguments(context, request));
  }
  Request known = request;
  known.name = named_kernel(request.name);
  const check::DeviceModel& device = check::device_model(request.device);
  check::Report report;
  try {
    report = report_of(known);
  } catch (const Error& error) {
    if (error.category() != Category::resource) throw;
    throw Error(Category::unavailable, cat("could not check: ", error.problem()), error.expected(),
                error.got(), error.advice());
  }
  if (!request.junit.empty()) {
    AtomicFile file(request.junit, request.force ? Overwrite::replace : Overwrite::refuse);
    file.write(check::to_junit(report));
    file.commit();
    context.note(cat("wrote ", request.junit));
  }
  context.print(context.json ? check::to_json(report, device) : check::to_text(report, device));
  return report.summary.clean ? 0 : 1;
}

}  // namespace

void add_check(CLI::App& root, Context& context) {
  auto request = std::make_shared<Request>();
  CLI::App* app = add_command(
      root, context, "check",
      "Run a kernel thread by thread and say what is wrong with it and what it costs on a GPU",
      "  tessera check tiled\n"
      "  tessera check block_tiled_vectorized -m 256 -n 256 -k 256 --device a100\n"
      "  tessera check naive -m 17 -n 31 -k 9 --json | jq .summary\n"
      "  tessera check my_kernel.cpp\n"
      "  tessera check tiled_idiomatic --tile 16x16x16 --order shuffled --seed 3 --junit "
      "check.xml");
  app->add_option(
         "NAME", request->name,
         "A kernel of the ladder: naive, tiled, ..., or FILE.cpp with a kernel of your own")
      ->required()
      ->type_name("NAME");
  add_extent(*app, "-m", request->m, "Rows of A and C (default 100)");
  add_extent(*app, "-n", request->n, "Columns of B and C (default 100)");
  add_extent(*app, "-k", request->k, "Columns of A, rows of B (default 100)");
  add_dtype(*app, "--dtype", request->dtype, "Element type: f32 (default), f16 or f64");
  app->add_option("--tile", request->tile,
                  "Tile, such as 32x32x32 or 128,128,8/8,8; default: the kernel's own")
      ->type_name("TILE");
  add_choice(*app, "--order", request->order, {"forward", "backward", "shuffled"},
             "Order in which a block's threads run between two barriers (default forward)");
  add_seed(*app, "--seed", request->seed, "Seed of the data and of shuffled orders (default 0)");
  add_number(*app, "--beta", request->beta,
             "C = A * B + beta * C (default 0: C holds nothing that may be read)");
  add_count(*app, "--blocks", request->blocks,
            "Check so many blocks, spread over the grid; default: all");
  add_count(*app, "--time-limit", request->seconds,
            "Stop a kernel that takes longer, in seconds (default 60)");
  app->add_flag("--counters-only", request->counters_only, "Count, but look for no mistakes");
  app->add_flag("--forget-tiles", request->forget_tiles,
                "Report elements of a tile that were not written when the tile was loaded again");
  app->add_option("--device", request->device,
                  "GPU whose limits count: a100, h100 or h200 (default)")
      ->type_name("a100|h100|h200");
  app->add_option("--junit", request->junit, "Write the result for CI into FILE")
      ->type_name("FILE");
  app->add_flag("--force", request->force, "Replace FILE if it exists");
  add_threads(*app, request->threads);
  add_json_option(*app, context, "One JSON document on stdout");
  app->callback([&context, request] {
    context.action = [&context, request] { return run_check(context, *request); };
  });
}

}  // namespace tessera::cli
