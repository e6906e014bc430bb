// See options.hpp.
#include "options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "contestant.hpp"
#include "device.hpp"
#include "peers.hpp"
#include "results.hpp"
#include "shell/algorithm_options.hpp"
#include "shell/suggest.hpp"
#include "sizes.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::bench {

namespace {

/// An option whose text `check` validates; `check` throws if it is invalid.
template <class Check>
void add_bench_text(CLI::App& app, const std::string& flags, std::string& target,
                    const char* type_name, std::string description, Check check) {
  const std::string name = flags.substr(flags.rfind(',') + 1);
  app.add_option_function<std::string>(
         flags,
         [&target, check, name](const std::string& text) {
           try {
             check(text);
           } catch (const Error& error) {
             throw CLI::ValidationError(name, error.what());
           }
           target = text;
         },
         std::move(description))
      ->type_name(type_name);
}

void add_positive(CLI::App& app, const char* flag, double& target, const char* unit, double most,
                  const char* description) {
  app.add_option_function<std::string>(
         flag,
         [&target, flag, unit, most](const std::string& text) {
           char* end = nullptr;
           const double value = std::strtod(text.c_str(), &end);
           if (text.empty() || *end != '\0' || !(value > 0) || value > most)
             throw CLI::ValidationError(
                 flag,
                 fmt::format("expected {}, above 0 and at most {:g}, got '{}'", unit, most, text));
           target = value;
         },
         description)
      ->type_name(unit);
}

void add_seconds(CLI::App& app, const char* flag, double& target, const char* description) {
  add_positive(app, flag, target, "SECONDS", 1e6, description);
}

void add_what(CLI::App& app, BenchRequest& request) {
  const auto extents = [](const std::string& text) { parse_extents(text); };
  add_bench_text(
      app, "--sizes", request.sizes, "LIST",
      "Sizes: 512, 64:1024:x2, 64:1024:+64, 4096x16x4096 (MxNxK), 1000x8x8x8 (a batch), 1024-TN "
      "(A transposed), joined by commas; default 64:1024:x2",
      [](const std::string& text) { parse_sizes(text); });
  add_bench_text(app, "--suite", request.suite, "SUITES",
                 cat("Named lists of sizes, joined by commas: ", shell::join(suite_names())),
                 [](const std::string& text) { suite_shapes(text); });
  add_bench_text(app, "-m", request.m, "LIST", "Rows of A and C; with -n and -k: every combination",
                 extents);
  add_bench_text(app, "-n", request.n, "LIST", "Columns of B and C", extents);
  add_bench_text(app, "-k", request.k, "LIST", "Columns of A, rows of B", extents);
  shell::add_algorithms(
      app, "--algorithms", request.algorithms,
      "Algorithms, joined by commas; blas calls libtessera_blas as programs call a "
      "BLAS; plan is a cpu::GemmPlan, made once for each shape; auto is the choice of "
      "a product that names no algorithm; default all",
      cat(kOwnBlas, "|", kPlanOnce, "|", kAutomatic));
  add_bench_text(app, "--dtype", request.dtype, "TYPE",
                 "Element type of A, B and C; or of A and B, then C, as bf16:f32; or of each, "
                 "u8:i8:i32; default f32",
                 [](const std::string& text) { shell::parse_types(text); });
  add_bench_text(
      app, "--threads", request.threads, "LIST",
      "Numbers of threads, such as 1,2; default: TESSERA_NUM_THREADS, then OMP_NUM_THREADS, "
      "then the cores of this process",
      [](const std::string& text) { parse_thread_counts(text); });
  app.add_option("--device", request.device,
                 "Measure on a GPU, beside cuBLAS if it is installed: cuda or cuda:N; or on an "
                 "OpenCL device; default cpu")
      ->type_name("cpu|cuda:0|opencl:0");
  app.add_option(
         "--peers", request.peers,
         "Other BLAS libraries to measure against: auto (all that are found), none, or names "
         "and paths joined by commas; TESSERA_PEERS=PATH[:PATH] adds to those found")
      ->type_name("auto|none|LIST");
}

void add_how(CLI::App& app, BenchRequest& request) {
  shell::add_count(app, "--repetitions", request.repetitions,
                   cat("Samples of each contestant; default ", kDefaultRepetitions, ", on a GPU ",
                       kDeviceRepetitions));
  add_seconds(app, "--min-time", request.min_time, "Least seconds of one sample; default 0.05");
  add_seconds(app, "--max-time", request.max_time,
              "Most seconds for each contestant and size: slow ones get fewer samples; default 5");
  add_seconds(app, "--idle", request.idle,
              "Also measure single calls after this many idle seconds, in separate rows");
  app.add_flag("--first-call", request.first_call,
               "Also measure the first call of a process, in separate rows");
  shell::add_seed(app, "--seed", request.seed, "Seed of the random matrices; default 1");
  app.add_flag("--no-host", request.no_host, "Omit the name of this machine from the results");
  app.add_option("--context", request.extra_context,
                 "Add KEY=VALUE to the results, for instance commit=1a2b3c")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
}

/// Options that not every command has.
std::vector<std::string> given_options(const CLI::App& app) {
  std::vector<std::string> out;
  for (const auto* option : app.get_options()) {
    const std::string name = option->get_name();
    const bool common = app.get_parent()->get_option_no_throw(name) != nullptr;
    if (option->count() > 0 && !common) out.push_back(name);
  }
  return out;
}

}  // namespace

void add_bench_options(CLI::App& app, shell::Context& context, BenchRequest& request) {
  // Record the options of the command line before configuration files add their values.
  app.parse_complete_callback([&app, &request] { request.given = given_options(app); });
  add_what(app, request);
  add_how(app, request);
  shell::add_json_option(app, context, "JSON as google/benchmark writes it, raw samples included");
  app.add_flag("--csv", request.csv, "CSV with one header line");
  app.add_flag("--markdown", request.markdown, "Tables for a document");
  app.add_option("--plot", request.plot, "Draw speed over size or shape; for one shape, the ladder")
      ->type_name("FILE");
  app.add_option("-o,--output", request.output,
                 "Also write .json, .csv or .md; updated after each case")
      ->type_name("FILE");
  app.add_flag("--force", request.force, "Replace files that exist");
  app.add_option("--from", request.from, "Show results from a JSON file; measure nothing")
      ->type_name("FILE");
  app.add_option("--compare", request.compare,
                 "Compare two result files; measure nothing: each row of OLD and NEW is "
                 "SAME, FASTER, SLOWER or UNCLEAR; exit code 1 if an algorithm is SLOWER")
      ->type_name("OLD NEW")
      ->expected(2);
  add_positive(app, "--threshold", request.threshold, "PERCENT", 99,
               "Least change that --compare reports; default 2");
  app.add_flag("--other-machine", request.other_machine,
               "Let --compare accept results of different machines");
}

}  // namespace tessera::bench
