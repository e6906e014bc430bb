// `tessera check NAME`: one kernel of the ladder under the checker, on seeded numbers of any shape;
// `tessera check FILE.cpp`: a kernel of the user's own.
// Exit code 0 when it is clean, 1 with findings, 4 when it could not be checked.
#include <fstream>

#include "check_file.hpp"
#include "checked_kernel.hpp"
#include "commands.hpp"
#include "process/signals.hpp"
#include "process/temporary_folder.hpp"
#include "shell/options.hpp"
#include "shell/write_file.hpp"
#include "tessera/check/format.hpp"
#include "tessera/check/html_report.hpp"
#include "tessera/io/atomic_file.hpp"

namespace tessera::cli {

namespace {

struct CheckRequest {
  CheckedKernel kernel;
  std::vector<std::string> more_files;
  std::string text, junit, html, suppress, flags, stop_at, arguments;
  bool force = false;
};

/// Prints the report and writes what else was asked for.
int print_report(const Context& context, const CheckRequest& request, const FileReport& report) {
  if (!request.text.empty()) write_file(context, request.text, request.force, report.text);
  if (!request.junit.empty()) write_file(context, request.junit, request.force, report.junit);
  if (!request.html.empty()) write_file(context, request.html, request.force, report.html);
  if (context.json) context.print(report.printed);
  else context.print_wrapped(report.printed);
  return report.code;
}

/// A kernel as a program of its own.
int check_program(const Context& context, const CheckRequest& request, Compilation compilation) {
  compilation.flags = request.flags;
  compilation.for_debugger = !request.stop_at.empty();
  const FileReport report = check_file({.compilation = std::move(compilation),
                                        .more_sources = request.more_files,
                                        .arguments = split_words(request.arguments),
                                        .kernel = request.kernel,
                                        .stop_at = request.stop_at,
                                        .suppress = request.suppress,
                                        .json = context.json,
                                        .wants_text = !request.text.empty(),
                                        .wants_junit = !request.junit.empty(),
                                        .wants_html = !request.html.empty()});
  if (report.printed.empty()) return report.code;  // it has said why
  return print_report(context, request, report);
}

/// A kernel of the ladder that has to be compiled first.
int check_compiled(const Context& context, const CheckRequest& request,
                   const KernelSpelling& spelling) {
  const TemporaryFolder folder;
  const auto source = folder.path() / cat(request.kernel.name, ".cpp");
  std::ofstream(source) << source_text(request.kernel, spelling);
  const std::string what = cat(request.kernel.name, " with tile ", to_string(spelling.tile), " in ",
                               request.kernel.dtype);
  context.detail(cat("compiling ", what));
  return check_program(context, request, {.source = source, .what = what});
}

void check_request(CheckRequest& request) {
  checked_device(request.kernel);
  for (const std::string& file : {request.text, request.junit, request.html})
    if (!file.empty()) check_output(file, request.force ? Overwrite::replace : Overwrite::refuse);
  if (!request.suppress.empty())
    request.kernel.suppressions = check::read_suppressions(request.suppress);
  if (!request.stop_at.empty()) check::parse_stop_at(request.stop_at);
  const bool is_program = is_file(request.kernel);
  if (!is_program && !request.more_files.empty())
    throw Error(Category::argument, cat("unexpected argument '", request.more_files[0], "'"),
                "further files after FILE.cu", request.kernel.name);
  if (!is_program && !request.arguments.empty())
    throw Error(Category::argument, "--args: only a program takes arguments",
                "--args with FILE.cu", request.kernel.name);
}

int run_check(const Context& context, CheckRequest& request) {
  check_request(request);
  const std::string& name = request.kernel.name;
  if (is_file(request.kernel)) {
    const InterruptsAreNoted noted;  // folders and programs go when the command is stopped
    return check_program(context, request, {.source = name, .what = name});
  }
  const KernelSpelling spelling = spelling_of(request.kernel);
  if (!spelling.is_compiled || !request.stop_at.empty() || !request.flags.empty()) {
    const InterruptsAreNoted noted;
    return check_compiled(context, request, spelling);
  }
  const check::DeviceModel& device = check::device_model(request.kernel.device);
  const check::Report report = checked(request.kernel);
  return print_report(
      context, request,
      {check::exit_code(report.summary),
       context.json ? check::to_json(report, device) : check::to_text(report, device),
       request.text.empty() ? "" : check::to_text(report, device),
       request.junit.empty() ? "" : check::to_junit(report),
       request.html.empty() ? "" : check::html_report(report, device, source_of)});
}

void add_outputs(CLI::App& app, CheckRequest& request, Context& context) {
  add_text(app, "--text", "FILE", request.text, "Write the text into FILE, beside --json");
  add_text(app, "--junit", "FILE", request.junit, "Write the findings for CI into FILE, as JUnit");
  add_text(app, "--html", "FILE", request.html, "Write a page with source, pictures and roofline");
  add_flag(app, "--force", request.force, "Replace FILE if it exists");
  add_json_option(app, context, "One JSON document on stdout");
}

}  // namespace

void add_check(CLI::App& root, Context& context) {
  auto request = std::make_shared<CheckRequest>();
  CLI::App* app = add_command(
      root, context, "check",
      "Run a kernel thread by thread and say what is wrong with it and what it costs on a GPU",
      "  tessera check tiled\n"
      "  tessera check block_tiled_vectorized -m 256 -n 256 -k 256 --device a100\n"
      "  tessera check naive -m 17 -n 31 -k 9 --json | jq .summary\n"
      "  tessera check saxpy.cu --cxxflags -Iinclude --args '1024 100'\n"
      "  tessera check my_kernel.cpp --html my_kernel.html --cxxflags '-Iinclude -DTILE=32'\n"
      "  tessera check my_kernel.cpp --stop-at 'block=1,0 thread=3 superstep=load'\n"
      "  tessera check tiled_idiomatic --tile 16x16x16 --order shuffled --seed 3 --junit "
      "check.xml");
  add_kernel_options(
      *app, request->kernel, "KERNEL|FILE",
      "A kernel of the ladder: naive, tiled, ..., FILE.cpp with a kernel of your own, or FILE.cu "
      "with a program in plain CUDA");
  add_arguments(*app, "FILES", "FILE", request->more_files,
                "Further files of a program in plain CUDA");
  add_text(*app, "--args", "WORDS", request->arguments,
           "Arguments of a program in plain CUDA, as one word");
  add_flag(*app, "--counters-only", request->kernel.counters_only,
           "Count, but look for no mistakes");
  add_flag(*app, "--forget-tiles", request->kernel.forget_tiles,
           "Report elements of a tile that were not written when the tile was loaded again");
  add_flag(*app, "--coverage", request->kernel.coverage,
           "Elements of inputs that are never read, or of outputs never written, are errors");
  add_text(*app, "--suppress", "FILE", request->suppress,
           "Accept the findings that FILE lists, each with a reason");
  add_text(*app, "--cxxflags", "FLAGS", request->flags,
           "Further options of the compiler, as one word");
  add_text(*app, "--stop-at", "WHERE", request->stop_at,
           "Stop in gdb: 'block=0,1,0 thread=3,0,0 superstep=load'");
  add_outputs(*app, *request, context);
  on_run(*app, context, [&context, request] { return run_check(context, *request); });
}

}  // namespace tessera::cli
