// `tessera tune`: the options; bench/tune.cpp does the work.
#include "bench/tune.hpp"

#include <CLI/CLI.hpp>

#include "bench/cuda.hpp"
#include "bench/sizes.hpp"
#include "bench/tune_cpu.hpp"
#include "commands.hpp"
#include "device/device_names.hpp"
#include "process/signals.hpp"
#include "shell/device.hpp"
#include "shell/options.hpp"

namespace tessera::cli {

namespace {

int tune_this_cpu(const shell::Context& context, const bench::TuneRequest& request) {
  if (request.dtype != "f32")
    throw Error(Category::argument, cat("tune: --dtype ", request.dtype), "f32 on a CPU", {},
                "its values serve all types");
  if (request.cache.empty())
    throw Error(Category::argument, "tune: --device cpu", "--cache FILE", {},
                "TESSERA_CPU_TUNING=FILE then uses it");
  if (request.peer != "auto" || request.again)
    throw Error(Category::argument,
                cat("tune: ", request.again ? "--again" : "--peer", " is for GPUs"));
  if (request.seconds <= 0)
    throw Error(Category::argument, "tune: no time to try values", "--seconds above 0",
                cat(request.seconds));
  return bench::tune_cpu(context, request.sizes, request.seconds, request.cache);
}

}  // namespace

void add_tune(CLI::App& root, shell::Context& context) {
  auto request = std::make_shared<bench::TuneRequest>();
  CLI::App* app = shell::add_command(
      root, context, "tune", "Find the fastest kernel and tile of products on a GPU and keep them",
      "  tessera tune --sizes 1024:8192:x2 --dtype bf16\n"
      "  tessera tune --device cuda:1 --sizes 16x4096x4096,4096-NT --seconds 300\n"
      "  tessera tune --device cpu --cache cpu.txt\n"
      "\n"
      "Products on that device use these results unless they name an algorithm. Known\n"
      "results are not measured again, so you can repeat a call that ran out of time.\n"
      "On a CPU it finds the values by which products fit the processor, for\n"
      "TESSERA_CPU_TUNING.");
  app->add_option("--device", request->device, "cuda (default), cuda:N or cpu")
      ->type_name("cuda:0");
  app->add_option("--sizes", request->sizes,
                  "Sizes, as 'tessera bench' takes them; default 1024:8192:x2, on a CPU some of "
                  "every form")
      ->type_name("LIST");
  app->add_option("--dtype", request->dtype, "Element types, as 'tessera bench'; default f32")
      ->type_name("TYPE");
  shell::add_number(*app, "--seconds", "SECONDS", 0, 1e6, request->seconds,
                    "Time limit in seconds; default 120");
  app->add_option("--peer", request->peer,
                  "Peers to compare with: auto (cublaslt, cublaslt-2, cublas), none or a name")
      ->type_name("auto|none|NAME");
  app->add_option("--cache", request->cache,
                  "The file; default that of the device, which products read: TESSERA_TUNING, else "
                  "tessera/tuning-NAME.txt in $XDG_CACHE_HOME or ~/.cache")
      ->type_name("FILE");
  app->add_flag("--again", request->again, "Also measure known sizes again");
  shell::add_json_option(*app, context, "The results, as JSON");
  shell::on_run(*app, context, [&context, request] {
    const std::string named = in_lower_case(request->device);
    if (named == "cpu") return tune_this_cpu(context, *request);
    if (request->sizes.empty()) request->sizes = "1024:8192:x2";
    (void)bench::parse_sizes(request->sizes);
    require_product(shell::parse_types(request->dtype));
    if (!named.starts_with("cuda"))
      throw Error(Category::argument, cat("tune: --device ", request->device),
                  "cuda, cuda:N or cpu", {}, "products on other devices need no tuning");
    const std::string name = shell::named_device(request->device, "see 'tessera doctor'");
    const auto device = bench::open_cuda_bench(name);
    request->candidates = [name](const Problem& problem) { return candidates_for(problem, name); };
    const process::InterruptsAreNoted noted;
    try {
      return bench::tune_on(context, *request, *device, tuned_on(name));
    } catch (const Error& error) {
      if (device->hangs()) context.error(error.what());
      bench::leave_hanging(*device, exit_code(error.category()));
      throw;
    } catch (const process::Interrupted& interrupted) {
      context.error("interrupted; the results so far are kept");
      return 128 + interrupted.signal;
    }
  });
}

}  // namespace tessera::cli
