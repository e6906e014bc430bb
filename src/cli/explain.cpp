// `tessera explain NAME [--against OTHER]`: what bounds a kernel of the ladder on a GPU and what to
// change, from the counters of a few of its blocks; two kernels side by side.
#include <memory>

#include "checked_kernel.hpp"
#include "commands.hpp"
#include "explain_report.hpp"
#include "shell/json_text.hpp"
#include "shell/options.hpp"
#include "shell/write_file.hpp"
#include "tessera/io/atomic_file.hpp"

namespace tessera::cli {

namespace {

/// Large enough that edges and the filling of the GPU are not what is explained.
constexpr index_t kDefaultExtent = 1024;
constexpr int kDefaultBlocks = 2;

struct ExplainRequest {
  CheckedKernel kernel{
      .m = kDefaultExtent, .n = kDefaultExtent, .k = kDefaultExtent, .blocks = kDefaultBlocks};
  std::string against, text, html;
  bool force = false;
};

/// The algorithm behind `name` on the way from the first kernel to the matrix units.
const Algorithm* next_step(const std::string& name) {
  const auto ladder = algorithms();
  for (std::size_t i = 0; i + 1 < ladder.size() && ladder[i].name != "tensor_core"; ++i)
    if (ladder[i].name == name) return &ladder[i + 1];
  return nullptr;
}

Explained explained(const ExplainRequest& request, const std::string& name) {
  CheckedKernel kernel = request.kernel;
  kernel.name = name;
  Explained out{.report = checked(kernel), .explanation = {}, .next = next_step(name)};
  out.explanation = check::explain(out.report, check::device_model(kernel.device));
  return out;
}

/// What explains a kernel is what it does: refuses files, whose own program counts, and products
/// without elements.
void require_work(const CheckedKernel& kernel) {
  if (is_file(kernel))
    throw Error(Category::argument, "explain takes a kernel of the ladder", {}, kernel.name,
                cat("a file of your own is explained by the page of 'tessera check ", kernel.name,
                    " --html FILE'"));
  if (kernel.m == 0 || kernel.n == 0)
    throw Error(Category::argument, "a product without elements has nothing to explain",
                "-m and -n of at least 1", cat("m=", kernel.m, " n=", kernel.n));
}

int run_explain(const shell::Context& context, const ExplainRequest& request) {
  const check::DeviceModel& device = checked_device(request.kernel);
  require_work(request.kernel);
  const bool two = !request.against.empty();
  if (two && !request.kernel.tile.empty())
    throw Error(Category::argument, "--tile is that of one kernel", {}, {},
                "leave --tile or --against out");
  for (const std::string& file : {request.text, request.html})
    if (!file.empty()) check_output(file, request.force ? Overwrite::replace : Overwrite::refuse);
  const Explained a = explained(request, request.kernel.name);
  const Explained b = two ? explained(request, request.against) : Explained{};
  if (!request.html.empty())
    shell::write_file(context, request.html, request.force,
                      two ? check::html_comparison(a.report, b.report, device, source_of)
                          : check::html_report(a.report, device, source_of));
  const auto text = [&] { return two ? explain_text(a, b, source_of) : explain_text(a); };
  if (!request.text.empty()) shell::write_file(context, request.text, request.force, text());
  if (context.json) context.print(shell::json_text(two ? explain_json(a, b) : explain_json(a)));
  else context.print(text());
  return 0;
}

}  // namespace

void add_explain(CLI::App& root, shell::Context& context) {
  auto request = std::make_shared<ExplainRequest>();
  CLI::App* app = shell::add_command(root, context, "explain",
                                     "Say what bounds a kernel on a GPU, and what to change",
                                     "  tessera explain naive\n"
                                     "  tessera explain tiled --device a100 --html tiled.html\n"
                                     "  tessera explain naive --against coalescing\n"
                                     "  tessera explain block_tiled -m 4096 --json | jq .advice");
  add_kernel_options(*app, request->kernel, "KERNEL", "A kernel of the ladder: naive, tiled, ...");
  shell::add_text(*app, "--against", "KERNEL", request->against,
                  "A second kernel, shown side by side");
  shell::add_text(*app, "--text", "FILE", request->text, "Write the text into FILE, beside --json");
  shell::add_text(*app, "--html", "FILE", request->html,
                  "Write a page with source, pictures and roofline");
  shell::add_flag(*app, "--force", request->force, "Replace FILE if it exists");
  shell::add_json_option(*app, context, "One JSON document on stdout");
  shell::on_run(*app, context, [&context, request] { return run_explain(context, *request); });
}

}  // namespace tessera::cli
