// `tessera check NAME`: one kernel of the ladder under the checker, on seeded numbers of any shape;
// `tessera check FILE.cpp`: a kernel of the user. Exit code 0 without findings, 1 with findings, 4
// if the kernel could not be checked.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "check/formats/formats.hpp"
#include "commands.hpp"
#include "inspect/check_file.hpp"
#include "inspect/checked_kernel.hpp"
#include "inspect/sweep.hpp"
#include "plain_cuda/build.hpp"
#include "plain_cuda/compiler_said.hpp"
#include "plain_cuda/launch_source.hpp"
#include "process/signals.hpp"
#include "process/temporary_folder.hpp"
#include "shell/options.hpp"
#include "shell/write_file.hpp"
#include "tessera/check/format.hpp"
#include "tessera/io/atomic_file.hpp"

namespace tessera::cli {

namespace {

struct CheckRequest {
  inspect::CheckedKernel kernel;
  std::vector<std::string> more_files;
  std::string format;                        ///< of the printed output; empty: --json decides
  std::map<std::string, std::string> files;  ///< by format; empty: not requested
  std::string suppress, flags, stop_at, arguments, launch, results;
  bool force = false, sweeps = false;

  std::vector<std::string> others() const {
    std::vector<std::string> out;
    for (const auto& [format, file] : files)
      if (!file.empty()) out.push_back(format);
    return out;
  }
};

/// Prints the report and writes the requested files.
int print_report(const shell::Context& context, const CheckRequest& request,
                 const inspect::FileReport& report) {
  for (const auto& [format, text] : report.others)
    shell::write_file(context, request.files.at(format), request.force, text);
  if (request.format == "text") context.print_wrapped(report.printed);
  else context.print(report.printed);
  return report.code;
}

/// The program has already said on stderr why it checks nothing.
struct SaidWhy {
  int code;
};

/// The command for one case of a sweep, without its shape.
std::string again(const CheckRequest& request) {
  const inspect::CheckedKernel& kernel = request.kernel;
  const auto quoted = [](const std::string& word) {
    return word.find(' ') == std::string::npos ? word : "'" + word + "'";
  };
  std::string out = "tessera check " + quoted(kernel.name);
  if (!inspect::is_file(kernel) && !kernel.tile.empty()) out += " --tile " + kernel.tile;
  if (kernel.dtype != "f32") out += " --dtype " + kernel.dtype;
  if (kernel.beta != 0) out += cat(" --beta ", kernel.beta);
  if (kernel.seed != 0) out += cat(" --seed ", kernel.seed);
  if (kernel.device != "h200") out += " --device " + kernel.device;
  if (kernel.forget_tiles) out += " --forget-tiles";
  if (kernel.warp != kWarpSize) out += cat(" --warp ", kernel.warp);
  if (kernel.coverage) out += " --coverage";
  if (!request.suppress.empty()) out += " --suppress " + quoted(request.suppress);
  if (!request.flags.empty()) out += cat(" --cxxflags \"", request.flags, "\"");
  if (!request.launch.empty()) out += cat(" --launch '", request.launch, "'");
  return out;
}

/// Checks many shapes; `spelling` is set for a kernel of the ladder.
int check_sweep(const shell::Context& context, const CheckRequest& request,
                const std::optional<KernelSpelling>& spelling,
                const inspect::CheckKernelCase& check_case) {
  const inspect::SweepRequest requested{
      .kernel = request.kernel,
      .only_rows = !request.launch.empty(),
      .taken = request.launch.empty()
                   ? check::SweepExtents{}
                   : inspect::sweep_extents(plain_cuda::extents_used(request.launch)),
      .again = again(request),
      .format = request.format,
      .others = request.others()};
  const check::SweepTile around =
      spelling ? inspect::sweep_tile(*spelling) : inspect::sweep_tile(request.kernel, check_case);
  return print_report(context, request, inspect::sweep_kernel(requested, around, check_case));
}

/// The report of one run of a program for a sweep.
check::Report case_report(const inspect::CheckedProgram& program, inspect::FileCheck check) {
  check.sized = true;
  check.format = "json";
  check.others.clear();
  const inspect::FileReport said = program.run(check);
  if (said.printed.empty() && said.code == 2) throw SaidWhy{said.code};
  if (said.printed.empty())
    throw Error(Category::unavailable, "could not be checked: see the program's message on stderr");
  check::Report out = check::read_report(said.printed);
  out.source = check.compilation.source.string();
  return out;
}

/// Annotations and files for CI also say that the file could not be checked; text and JSON do not.
void print_refusal(const shell::Context& context, const CheckRequest& request, const Error& why) {
  check::Report report;
  report.kernel = report.source = request.kernel.name;
  report.summary.clean = false;
  report.summary.incomplete = why.what();
  if (const auto* const refused = dynamic_cast<const plain_cuda::CompileRefused*>(&why)) {
    if (const auto errors = plain_cuda::errors_in(refused->said()); !errors.empty()) {
      const plain_cuda::CompilerError& first = errors.front();
      report.summary.incomplete = cat(request.kernel.name, " does not compile: ", first.text);
      report.summary.incomplete_at = {first.file, static_cast<int>(first.line),
                                      static_cast<int>(first.column)};
    }
  }
  inspect::FileReport out = inspect::written(report, check::device_model(request.kernel.device),
                                             request.format, request.others(), inspect::source_of);
  if (request.format == "json" || request.format == "text") out.printed.clear();
  print_report(context, request, out);
}

/// A kernel as its own program; `spelling` is set for a kernel of the ladder.
int check_program(const shell::Context& context, const CheckRequest& request,
                  process::Compilation compilation,
                  const std::optional<KernelSpelling>& spelling = {}) {
  compilation.flags = request.flags;
  compilation.for_debugger = !request.stop_at.empty();
  inspect::FileCheck check{.compilation = std::move(compilation),
                           .more_sources = request.more_files,
                           .arguments = process::split_words(request.arguments),
                           .launch = request.launch,
                           .kernel = request.kernel,
                           .stop_at = request.stop_at,
                           .suppress = request.suppress,
                           .results = request.results,
                           .sized = !spelling && (request.sweeps || !request.launch.empty()),
                           .format = request.format,
                           .others = request.others()};
  std::optional<inspect::CheckedProgram> built;
  try {
    built.emplace(check);
  } catch (const Error& error) {
    if (error.category() == Category::unavailable) print_refusal(context, request, error);
    throw;
  }
  const inspect::CheckedProgram& program = *built;
  const auto problem = [&](const inspect::CheckedKernel& kernel) {
    return spelling ? inspect::problem_text(kernel, *spelling) : std::string();
  };
  if (request.sweeps) {
    try {
      return check_sweep(context, request, spelling, [&](const inspect::CheckedKernel& kernel) {
        check.kernel = kernel;
        check.problem = problem(kernel);
        return case_report(program, check);
      });
    } catch (const SaidWhy& said) {
      return said.code;
    }
  }
  check.problem = problem(request.kernel);
  const inspect::FileReport report = program.run(check);
  if (report.printed.empty()) return report.code;  // the program has reported the reason
  return print_report(context, request, report);
}

/// A kernel of the ladder that must be compiled first.
int check_compiled(const shell::Context& context, const CheckRequest& request,
                   const KernelSpelling& spelling) {
  const process::TemporaryFolder folder;
  const auto source = folder.path() / cat(request.kernel.name, ".cpp");
  std::ofstream(source) << inspect::source_text(request.kernel, spelling);
  const std::string what = cat(request.kernel.name, " with tile ", to_string(spelling.tile), " in ",
                               request.kernel.dtype);
  context.detail(cat("compiling ", what));
  return check_program(context, request, {.source = source, .what = what}, spelling);
}

/// A folder that is created here, or is empty.
void check_results(const CheckRequest& request) {
  if (request.launch.empty())
    throw Error(Category::argument, "--results: only a launch has arrays",
                "--results with --launch");
  if (request.sweeps) throw Error(Category::argument, "--results and --sweep exclude one another");
  std::error_code why;
  std::filesystem::create_directories(request.results, why);
  if (!why && !request.force && !std::filesystem::is_empty(request.results, why) && !why)
    throw Error(Category::file, cat("--results: ", request.results, " is not empty"), {}, {},
                "name another folder, or --force");
  if (why) throw Error(Category::file, cat("--results: ", request.results, ": ", why.message()));
}

void check_request(const shell::Context& context, CheckRequest& request) {
  if (request.format.empty()) request.format = context.json ? "json" : "text";
  inspect::checked_device(request.kernel);
  for (const auto& [format, file] : request.files)
    if (!file.empty()) check_output(file, request.force ? Overwrite::replace : Overwrite::refuse);
  if (!request.suppress.empty())
    request.kernel.suppressions = check::read_suppressions(request.suppress);
  if (!request.stop_at.empty()) check::parse_stop_at(request.stop_at);
  const bool is_program = inspect::is_file(request.kernel);
  if (!is_program && !request.more_files.empty())
    throw Error(
        Category::argument,
        cat("unexpected argument '", request.more_files[0], "' after ", request.kernel.name),
        "-m M -n N -k K for a shape; further files only after FILE.cu");
  if (!is_program && !request.arguments.empty())
    throw Error(Category::argument, "--args: only a program takes arguments", "--args with FILE.cu",
                request.kernel.name);
  if (!is_program && !request.launch.empty())
    throw Error(Category::argument, "--launch: a kernel of the ladder is launched by its shape",
                "--launch with FILE.cu", request.kernel.name);
  if (!is_program && request.kernel.warp != kWarpSize)
    throw Error(Category::argument, "--warp: kernels of the ladder have warps of 32 lanes",
                "--warp with FILE.cu", request.kernel.name);
  if (!request.launch.empty() && !request.arguments.empty())
    throw Error(Category::argument,
                "--launch and --args exclude one another: main() is not called");
  if (!request.results.empty()) check_results(request);
  if (!request.sweeps) return;
  if (!request.stop_at.empty() || request.format == "html" || !request.files["html"].empty())
    throw Error(Category::argument, "--sweep excludes --html and --stop-at", {}, {},
                "run the smallest failing case alone with --html or --stop-at");
}

int run_check(const shell::Context& context, CheckRequest& request) {
  check_request(context, request);
  const std::string& name = request.kernel.name;
  if (inspect::is_file(request.kernel)) {
    // removes temporary folders and ends programs if the command is stopped
    const process::InterruptsAreNoted noted;
    return check_program(context, request, {.source = name, .what = name});
  }
  const KernelSpelling spelling = inspect::spelling_of(request.kernel);
  if (!spelling.is_compiled || !request.stop_at.empty() || !request.flags.empty()) {
    const process::InterruptsAreNoted noted;
    return check_compiled(context, request, spelling);
  }
  if (request.sweeps) return check_sweep(context, request, spelling, inspect::checked);
  const check::DeviceModel& device = check::device_model(request.kernel.device);
  const check::Report report = inspect::checked(request.kernel);
  return print_report(
      context, request,
      inspect::written(report, device, request.format, request.others(), inspect::source_of));
}

void add_outputs(CLI::App& app, CheckRequest& request, shell::Context& context) {
  std::vector<std::string> names;
  for (const check::Format& each : check::formats()) names.emplace_back(each.name);
  shell::add_choice(app, "--format", request.format, names,
                    "Output format: text (default); json; gcc, for editors; sarif, for code "
                    "scanning; github, for annotations");
  shell::add_json_option(app, context, "One JSON document on stdout: --format json");
  auto& files = request.files;
  shell::add_text(app, "--text", "FILE", files["text"], "Also write the report as text into FILE");
  shell::add_text(app, "--sarif", "FILE", files["sarif"],
                  "Write the findings into FILE, as SARIF 2.1.0");
  shell::add_text(app, "--junit", "FILE", files["junit"],
                  "Write the findings for CI into FILE, as JUnit");
  shell::add_text(app, "--html", "FILE", files["html"],
                  "Write a page with source, pictures and roofline");
  shell::add_flag(app, "--force", request.force, "Replace FILE if it exists");
}

}  // namespace

void add_check(CLI::App& root, shell::Context& context) {
  auto request = std::make_shared<CheckRequest>();
  CLI::App* app = shell::add_command(
      root, context, "check",
      "Run a kernel thread by thread and report its mistakes and its cost on a GPU",
      "  tessera check tiled\n"
      "  tessera check block_tiled_vectorized -m 256 -n 256 -k 256 --device a100\n"
      "  tessera check naive -m 17 -n 31 -k 9 --json | jq .summary\n"
      "  tessera check saxpy.cu -I include --args '1024 100'\n"
      "  tessera check scale.cu --launch 'scale<<<(n + 255) / 256, 256>>>(x: f32[n], n: n)' "
      "--sweep\n"
      "  tessera check my_kernel.cpp --html my_kernel.html -I include -D TILE=32\n"
      "  tessera check tiled --sweep --time-limit 30\n"
      "  tessera check my_kernel.cpp --format gcc\n"
      "  tessera check my_kernel.cpp --stop-at 'block=1,0 thread=3 superstep=load'\n"
      "  tessera check tiled_idiomatic --tile 16x16x16 --order shuffled --seed 3 --junit "
      "check.xml");
  inspect::add_kernel_options(
      *app, request->kernel, "KERNEL|FILE",
      "A kernel of the ladder: naive, tiled, ..., FILE.cpp with a kernel of your own, or FILE.cu "
      "with a program in plain CUDA");
  shell::add_arguments(*app, "FILES", "FILE", request->more_files,
                       "Further files of a program in plain CUDA");
  shell::add_text(*app, "--args", "WORDS", request->arguments,
                  "Arguments of a program in plain CUDA, quoted as one argument");
  shell::add_text(*app, "--launch", "LAUNCH", request->launch,
                  "Launch one kernel of FILE.cu in place of its main(): 'kernel<<<dim3(4, 4), "
                  "256>>>(A: f32[m,k], n: n)'");
  shell::add_checked(
      *app, "--warp",
      [request](const std::string& text) {
        if (text != "32" && text != "64")
          throw Error(Category::argument, "no such warp", "32 or 64 lanes", text);
        request->kernel.warp = text == "32" ? 32 : 64;
      },
      "Lanes of a warp of plain CUDA: 32 (default) or 64", "32|64");
  shell::add_text(*app, "--results", "FOLDER", request->results,
                  "Write the arrays that the launch may change into FOLDER, each as NAME.npy");
  inspect::add_strides(*app, request->kernel);
  shell::add_flag(*app, "--sweep", request->sweeps,
                  "Check many shapes and strides around the tile, in three orders of the threads");
  shell::add_flag(*app, "--counters-only", request->kernel.counters_only,
                  "Count the costs without looking for mistakes");
  shell::add_flag(
      *app, "--forget-tiles", request->kernel.forget_tiles,
      "Report elements of a tile that are stale because a later load did not write them");
  shell::add_flag(
      *app, "--coverage", request->kernel.coverage,
      "Elements of inputs that are never read, or of outputs never written, are errors");
  shell::add_text(*app, "--suppress", "FILE", request->suppress,
                  "Accept the findings that FILE lists, each with a reason");
  shell::add_compiler_flags(*app, request->flags);
  shell::add_text(*app, "--stop-at", "WHERE", request->stop_at,
                  "Stop in gdb: 'block=0,1,0 thread=3,0,0 superstep=load'");
  add_outputs(*app, *request, context);
  shell::on_run(*app, context, [&context, request] { return run_check(context, *request); });
}

}  // namespace tessera::cli
