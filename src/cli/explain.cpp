// `tessera explain NAME|FILE [--against OTHER]`: what bounds a kernel of the ladder or of the user
// on a GPU and what to change, from the counters of a few of its blocks; or two kernels side by
// side.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <memory>
#include <string_view>

#include "commands.hpp"
#include "explain_cpu.hpp"
#include "inspect/check_file.hpp"
#include "inspect/checked_kernel.hpp"
#include "inspect/explain_report.hpp"
#include "process/signals.hpp"
#include "shell/algorithm_options.hpp"
#include "shell/json_text.hpp"
#include "shell/options.hpp"
#include "shell/suggest.hpp"
#include "shell/write_file.hpp"
#include "tessera/check/format.hpp"
#include "tessera/io/atomic_file.hpp"

namespace tessera::cli {

namespace {

/// Large enough that neither edges nor an idle part of the GPU dominates.
constexpr index_t kDefaultExtent = 1024;
constexpr int kDefaultBlocks = 2;

struct ExplainRequest {
  inspect::CheckedKernel kernel{
      .m = kDefaultExtent, .n = kDefaultExtent, .k = kDefaultExtent, .blocks = kDefaultBlocks};
  std::vector<std::string> more_files;
  std::string against, text, html, launch, arguments, flags, arithmetic = "chain";
  bool force = false, cpu = false;
};

/// The algorithm after `name` on the path from the first kernel to the matrix units.
const Algorithm* next_step(const std::string& name) {
  const auto ladder = algorithms();
  for (std::size_t i = 0; i + 1 < ladder.size() && ladder[i].name != "tensor_core"; ++i)
    if (ladder[i].name == name) return &ladder[i + 1];
  return nullptr;
}

/// For a file, its program counts and writes the page if one is requested.
check::Report counted_in_file(const ExplainRequest& request, const inspect::CheckedKernel& kernel,
                              std::string& page) {
  const process::InterruptsAreNoted noted;
  const inspect::FileReport said = inspect::check_file(
      {.compilation = {.source = kernel.name, .what = kernel.name, .flags = request.flags},
       .more_sources = request.more_files,
       .arguments = process::split_words(request.arguments),
       .launch = request.launch,
       .kernel = kernel,
       .sized = !request.launch.empty(),
       .format = "json",
       .others =
           request.html.empty() ? std::vector<std::string>{} : std::vector<std::string>{"html"}});
  if (const auto html = said.others.find("html"); html != said.others.end()) page = html->second;
  if (said.printed.empty())
    throw Error(Category::unavailable, "nothing to explain: see the program's message on stderr");
  check::Report out = check::read_report(said.printed);
  if (!out.summary.incomplete.empty()) throw Error(Category::unavailable, out.summary.incomplete);
  if (out.summary.checked_blocks == 0)
    throw Error(Category::unavailable, cat(kernel.name, " launches no kernel"), {}, {},
                cat("'tessera check ", kernel.name, "' reports its mistakes"));
  return out;
}

inspect::Explained explained(const ExplainRequest& request, const std::string& name,
                             std::string& page) {
  inspect::CheckedKernel kernel = request.kernel;
  kernel.name = name;
  inspect::Explained out{.report = inspect::is_file(kernel) ? counted_in_file(request, kernel, page)
                                                            : inspect::checked(kernel),
                         .explanation = {},
                         .next = next_step(name)};
  out.explanation = check::explain(out.report, check::device_model(kernel.device));
  return out;
}

/// The counters come from the kernel's accesses: refuses products without elements, and options of
/// files without a file.
void require_work(const ExplainRequest& request) {
  const inspect::CheckedKernel& kernel = request.kernel;
  const bool has_words = !request.launch.empty() || !request.arguments.empty() ||
                         !request.flags.empty() || !request.more_files.empty();
  inspect::CheckedKernel other;
  other.name = request.against;
  const bool is_any_file = inspect::is_file(kernel) || inspect::is_file(other);
  if (!is_any_file && has_words)
    throw Error(Category::argument,
                "--launch, --args, further files and compiler options need a kernel in a file",
                "FILE.cu or FILE.cpp", kernel.name);
  if (!request.launch.empty() && !request.arguments.empty())
    throw Error(Category::argument,
                "--launch and --args exclude one another: main() is not called");
  if (is_any_file && !request.html.empty() && !request.against.empty())
    throw Error(Category::argument, "--html with --against compares kernels of the ladder", {}, {},
                "omit --html, or explain each file separately");
  if (!is_any_file && (kernel.m == 0 || kernel.n == 0))
    throw Error(Category::argument, "a product without elements has nothing to explain",
                "-m and -n of at least 1", cat("m=", kernel.m, " n=", kernel.n));
}

int run_explain(const shell::Context& context, ExplainRequest& request) {
  if (request.cpu) {
    std::vector<std::string> size{request.kernel.name};
    size.insert(size.end(), request.more_files.begin(), request.more_files.end());
    return explain_cpu(context, {size, request.kernel.dtype, request.arithmetic,
                                 request.kernel.beta, request.kernel.threads});
  }
  request.kernel.dtype = inspect::checked_dtype(request.kernel.dtype);
  const check::DeviceModel& device = inspect::checked_device(request.kernel);
  require_work(request);
  const bool two = !request.against.empty();
  if (two && !request.kernel.tile.empty())
    throw Error(Category::argument, "--tile applies to one kernel only", {}, {},
                "omit --tile or --against");
  for (const std::string& file : {request.text, request.html})
    if (!file.empty()) check_output(file, request.force ? Overwrite::replace : Overwrite::refuse);
  std::string page;
  const inspect::Explained a = explained(request, request.kernel.name, page);
  const inspect::Explained b =
      two ? explained(request, request.against, page) : inspect::Explained{};
  if (!request.html.empty())
    shell::write_file(context, request.html, request.force,
                      two ? check::html_comparison(a.report, b.report, device, inspect::source_of)
                      : !page.empty() ? page
                                      : check::html_report(a.report, device, inspect::source_of));
  const auto text = [&](std::size_t columns) {
    return two ? inspect::explain_text(a, b, inspect::source_of, columns)
           : inspect::is_file(request.kernel)
               ? inspect::explain_text(a, inspect::source_of, columns)
               : inspect::explain_text(a, columns);
  };
  if (!request.text.empty()) shell::write_file(context, request.text, request.force, text(0));
  if (context.json)
    context.print(shell::json_text(two ? inspect::explain_json(a, b) : inspect::explain_json(a)));
  else context.print(text(shell::terminal_columns(shell::Stream::out)));
  return 0;
}

/// A product is explained by its shape, a kernel by a run: few options serve both.
void require_matching(const CLI::App& app, bool cpu) {
  static constexpr std::string_view kOfProducts[] = {
      "--cpu",  "--dtype", "--arithmetic", "--beta",  "--threads",
      "--json", "--quiet", "--verbose",    "--color", "--config"};
  for (const CLI::Option* each : app.get_options([](const auto* o) { return o->count() > 0; })) {
    const std::string& name = each->get_name();
    if (!cpu && name == "--arithmetic")
      throw Error(Category::argument, "--arithmetic is for --cpu", "--cpu M N K beside it");
    if (cpu && name.starts_with("-") &&
        std::find(std::begin(kOfProducts), std::end(kOfProducts), name) == std::end(kOfProducts))
      throw Error(Category::argument, cat(name, " is for kernels"),
                  "with --cpu: M N K, --dtype, --arithmetic, --beta, --threads");
  }
}

}  // namespace

void add_explain(CLI::App& root, shell::Context& context) {
  auto request = std::make_shared<ExplainRequest>();
  CLI::App* app = shell::add_command(
      root, context, "explain", "Say what bounds a kernel on a GPU, or why the CPU takes a route",
      "  tessera explain naive\n"
      "  tessera explain tiled --device a100 --html tiled.html\n"
      "  tessera explain naive --against coalescing\n"
      "  tessera explain scale.cu --launch 'scale<<<(n + 255) / 256, "
      "256>>>(x: f32[n], n: n)' -n 100000\n"
      "  tessera explain block_tiled -m 4096 --json | jq .advice\n"
      "  tessera explain --cpu 1000 8 64");
  inspect::add_kernel_options(
      *app, request->kernel, "KERNEL|FILE",
      "A kernel of the ladder: naive, tiled, ..., FILE.cpp with a kernel of your own, "
      "or FILE.cu with a program in plain CUDA");
  shell::add_arguments(*app, "FILES", "FILE", request->more_files,
                       "Further files of a program in plain CUDA");
  shell::add_text(*app, "--args", "WORDS", request->arguments,
                  "Arguments of a program in plain CUDA, quoted as one argument");
  shell::add_text(*app, "--launch", "LAUNCH", request->launch,
                  "Launch one kernel of FILE.cu in place of its main(), as 'tessera check' does");
  shell::add_compiler_flags(*app, request->flags);
  shell::add_text(*app, "--against", "KERNEL", request->against,
                  "A second kernel, shown side by side");
  app->remove_option(app->get_option("--dtype"));  // --cpu knows more types
  shell::add_text(*app, "--dtype", "TYPE", request->kernel.dtype,
                  cat("Element type: ", shell::join(shell::product_dtype_names()), "; default ",
                      request->kernel.dtype,
                      "; with --cpu also types of A, B and C, such as bf16:f32 and u8:i8:i32"));
  inspect::add_strides(*app, request->kernel);
  shell::add_flag(*app, "--cpu", request->cpu,
                  "Explain the route of a product M N K through the packed CPU path instead");
  shell::add_choice(*app, "--arithmetic", request->arithmetic, {"chain", "lanes"},
                    "With --cpu: the order of summation of f32 and f64 (default chain)");
  shell::add_text(*app, "--text", "FILE", request->text,
                  "Also write the explanation as text into FILE");
  shell::add_text(*app, "--html", "FILE", request->html,
                  "Write a page with source, pictures and roofline");
  shell::add_flag(*app, "--force", request->force, "Replace FILE if it exists");
  shell::add_json_option(*app, context, "One JSON document on stdout");
  shell::on_run(*app, context, [&context, app, request] {
    require_matching(*app, request->cpu);
    return run_explain(context, *request);
  });
}

}  // namespace tessera::cli
