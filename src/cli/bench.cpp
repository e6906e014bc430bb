// `tessera bench`: how fast every algorithm multiplies, compared with the other BLAS libraries on
// this machine and with the machine's peak. This file has the options; bench/run.cpp measures,
// bench/outputs.cpp writes the results, and bench/kept.cpp shows results without measuring.
#include <fmt/format.h>

#include <algorithm>

#include "bench/cuda.hpp"
#include "bench/kept.hpp"
#include "bench/options.hpp"
#include "bench/outputs.hpp"
#include "bench/provenance.hpp"
#include "bench/run.hpp"
#include "bench/selection.hpp"
#include "commands.hpp"
#include "process/signals.hpp"
#include "shell/device.hpp"
#include "tessera/core/parallel.hpp"

namespace tessera::cli {

namespace {

/// Ends after a signal and keeps what was measured; returns the exit code.
int keep_partial(const shell::Context& context, const bench::Outputs& outputs, bench::Form form,
                 const bench::BenchResults& results, int signal) {
  const auto rows = std::count_if(results.rows.begin(), results.rows.end(),
                                  [](const auto& row) { return !row.samples.empty(); });
  if (rows > 0) {
    outputs.write(results);
    if (form == bench::Form::table) {
      bench::print_table(context, results, results.rows.back());
      bench::print_disturbed(context, results);
    } else context.print(bench::text_in(form, results));
    context.flush();
  }
  context.error(rows > 0 ? cat("interrupted; ", rows, " measured rows are kept")
                         : "interrupted before anything was measured");
  return 128 + signal;
}

/// Warns if threads would share CPUs with other programs.
void warn_of_others(const shell::Context& context, const nlohmann::ordered_json& about,
                    int most_threads) {
  const double others = about.at("others_busy").get<double>();
  const int processors = available_cores();
  if (others < 0.3 || most_threads + others < processors + 0.3) return;
  context.warn(fmt::format(
      "other programs keep {:.1f} of {} processors busy: {} will be slow, and uneven", others,
      processors, most_threads == 1 ? "1 thread" : cat(most_threads, " threads")));
}

int bench(const shell::Context& context, const bench::BenchRequest& request) {
  if (!request.from.empty() && !request.compare.empty())
    throw Error(Category::argument, "--from and --compare given", "one of them");
  if (!request.from.empty()) return bench::show_kept(context, request);
  if (!request.compare.empty()) return bench::show_comparison(context, request);
  for (const char* option : {"--threshold", "--other-machine"}) {
    if (std::find(request.given.begin(), request.given.end(), option) != request.given.end())
      throw Error(Category::argument, cat(option, " is for --compare"), {}, {},
                  "add --compare OLD NEW, or leave it out");
  }
  const bench::Form form = bench::form_of(context, request);
  const bench::Outputs outputs(context, request);
  const bench::BenchSettings settings = bench::settings_of(context, request);
  const std::size_t contestants = settings.algorithms.size() + settings.peers.size() + 1;
  bench::require_memory_for(settings.shapes, settings.types, settings.device ? 0 : contestants);
  const nlohmann::ordered_json about = bench::context_json(request, settings);
  if (!settings.device)
    warn_of_others(context, about,
                   *std::max_element(settings.threads.begin(), settings.threads.end()));
  bench::Bench run(context, settings, about);
  const process::InterruptsAreNoted noted;
  try {
    run.run([&](const bench::BenchResults& so_far) {
      outputs.write(so_far);
      if (form == bench::Form::table) bench::print_table(context, so_far, so_far.rows.back());
    });
  } catch (const process::Interrupted& interrupted) {
    return keep_partial(context, outputs, form, run.results(), interrupted.signal);
  }
  if (form == bench::Form::table) bench::print_disturbed(context, run.results());
  else context.print(bench::text_in(form, run.results()));
  const int code = bench::judged(context, run.results());
  context.flush();
  if (settings.device) bench::leave_hanging(*settings.device, code);
  return code;
}

}  // namespace

void add_bench(CLI::App& root, shell::Context& context) {
  auto request = std::make_shared<bench::BenchRequest>();
  request->device = shell::default_device();
  CLI::App* app = shell::add_command(
      root, context, "bench",
      "Measure algorithms beside other BLAS libraries and the machine's peak",
      "  tessera bench --sizes 64:1024:x2\n"
      "  tessera bench --sizes 512 --threads 1,2 --peers openblas,blis --plot ladder.svg\n"
      "  tessera bench -m 16 -n 4096 -k 1024:4096:x2 --algorithms block_tiled -o results.json\n"
      "  tessera bench --suite skinny,tiny --algorithms packed,blas -o skinny.json\n"
      "  tessera bench --from results.json --markdown\n"
      "  tessera bench --compare old.json new.json\n"
      "\n"
      "Every result is verified before it is timed; a wrong one is reported, not measured (exit "
      "1).");
  bench::add_bench_options(*app, context, *request);
  shell::on_run(*app, context, [&context, request] { return bench(context, *request); });
}

}  // namespace tessera::cli
