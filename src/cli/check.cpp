// `tessera check NAME`: one kernel of the ladder under the checker, on seeded numbers of any shape;
// `tessera check FILE.cpp`: a kernel of the user's own.
// Exit code 0 when it is clean, 1 with findings, 4 when it could not be checked.
#include "check_file.hpp"
#include "checked_kernel.hpp"
#include "commands.hpp"
#include "options.hpp"
#include "temporary_folder.hpp"
#include "tessera/check/format.hpp"
#include "tessera/check/html_report.hpp"
#include "tessera/io/atomic_file.hpp"

namespace tessera::cli {

namespace {

struct Request {
  CheckedKernel kernel;
  std::string junit, html;
  bool force = false;
};

/// The options that a file's own check takes: its shapes, tiles and data are its own.
std::vector<std::string> file_arguments(const Context& context, const CheckedKernel& kernel) {
  return {cat("order=", kernel.order),
          cat("seed=", kernel.seed),
          cat("threads=", kernel.threads),
          cat("blocks=", kernel.blocks),
          cat("time_limit_s=", kernel.seconds),
          cat("correctness=", kernel.counters_only ? 0 : 1),
          cat("forget_tiles=", kernel.forget_tiles ? 1 : 0),
          cat("registers=", kernel.registers),
          cat("format=", context.json ? "json" : "text"),
          cat("device=", kernel.device)};
}

/// The file's program leaves its outputs in a folder of ours, from where they go to their places
/// whole or not at all.
int check_users_file(const Context& context, const Request& request) {
  const TemporaryFolder folder;
  auto arguments = file_arguments(context, request.kernel);
  const std::pair<const std::string*, std::string> outputs[] = {
      {&request.junit, (folder.path() / "junit").string()},
      {&request.html, (folder.path() / "html").string()}};
  for (const auto& [wanted, temporary] : outputs)
    if (!wanted->empty())
      arguments.push_back(cat(wanted == &request.junit ? "junit=" : "html=", temporary));
  const int code = check_file(request.kernel.name, arguments);
  for (const auto& [wanted, temporary] : outputs)
    if (const auto text = check::read_source(temporary); text && !wanted->empty())
      write_file(context, *wanted, request.force, *text);
  return code;
}

int run_check(const Context& context, const Request& request) {
  const check::DeviceModel& device = checked_device(request.kernel);
  for (const std::string& file : {request.junit, request.html})
    if (!file.empty()) check_output(file, request.force ? Overwrite::replace : Overwrite::refuse);
  if (is_file(request.kernel)) return check_users_file(context, request);
  const check::Report report = checked(request.kernel);
  if (!request.junit.empty())
    write_file(context, request.junit, request.force, check::to_junit(report));
  if (!request.html.empty())
    write_file(context, request.html, request.force, check::html_report(report, device, source_of));
  context.print(context.json ? check::to_json(report, device) : check::to_text(report, device));
  return check::exit_code(report.summary);
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
      "  tessera check my_kernel.cpp --html my_kernel.html\n"
      "  tessera check tiled_idiomatic --tile 16x16x16 --order shuffled --seed 3 --junit "
      "check.xml");
  add_kernel_options(
      *app, request->kernel,
      "A kernel of the ladder: naive, tiled, ..., or FILE.cpp with a kernel of your own");
  app->add_flag("--counters-only", request->kernel.counters_only,
                "Count, but look for no mistakes");
  app->add_flag("--forget-tiles", request->kernel.forget_tiles,
                "Report elements of a tile that were not written when the tile was loaded again");
  app->add_option("--junit", request->junit, "Write the result for CI into FILE")
      ->type_name("FILE");
  app->add_option("--html", request->html, "Write a page with source, pictures and roofline")
      ->type_name("FILE");
  app->add_flag("--force", request->force, "Replace FILE if it exists");
  add_json_option(*app, context, "One JSON document on stdout");
  app->callback([&context, request] {
    context.action = [&context, request] { return run_check(context, *request); };
  });
}

}  // namespace tessera::cli
