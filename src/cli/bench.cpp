// `tessera bench`: how fast every algorithm multiplies, compared with the other BLAS libraries on
// this machine and with the machine's peak. This file has the options; bench/run.cpp measures,
// bench/outputs.cpp writes the results, and bench/kept.cpp shows results without measuring.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "bench/contestant.hpp"
#include "bench/cuda.hpp"
#include "bench/kept.hpp"
#include "bench/opencl.hpp"
#include "bench/options.hpp"
#include "bench/outputs.hpp"
#include "bench/provenance.hpp"
#include "bench/run.hpp"
#include "bench/sizes.hpp"
#include "commands.hpp"
#include "device.hpp"
#include "process/signals.hpp"
#include "shell/algorithm_options.hpp"
#include "shell/machine.hpp"
#include "shell/suggest.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/io/array.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::cli {

namespace {

// ---- options ------------------------------------------------------------------------------------

std::vector<bench::Shape> shapes_of(const bench::BenchRequest& request) {
  const bool rectangles = !request.m.empty() || !request.n.empty() || !request.k.empty();
  if (int{rectangles} + int{!request.sizes.empty()} + int{!request.suite.empty()} > 1)
    throw Error(Category::argument, "more than one of --sizes, --suite and -m, -n, -k given",
                "one of them");
  if (!request.suite.empty()) return bench::suite_shapes(request.suite);
  if (!rectangles) return bench::parse_sizes(request.sizes.empty() ? "64:1024:x2" : request.sizes);
  if (request.m.empty() || request.n.empty() || request.k.empty())
    throw Error(Category::argument, "-m, -n and -k belong together", "all three", {},
                "use --sizes for cubes");
  return bench::all_combinations(bench::parse_extents(request.m), bench::parse_extents(request.n),
                                 bench::parse_extents(request.k));
}

std::vector<int> threads_of(const bench::BenchRequest& request) {
  if (request.threads.empty()) return {default_threads()};
  std::vector<int> out;
  for (index_t count : bench::parse_thread_counts(request.threads))
    out.push_back(static_cast<int>(count));
  return out;
}

/// Measures call by call, and for each measurement what the options ask for in addition.
std::vector<bench::Readiness> readiness_of(const bench::BenchRequest& request) {
  std::vector<bench::Readiness> out = {{}};
  if (request.idle > 0) out.push_back({request.idle, false});
  if (request.first_call) out.push_back({0, true});
  return out;
}

/// Refuses options of the CPU with a GPU, so that none is silently ignored.
void require_no_processor(const bench::BenchRequest& request) {
  const bool blas = std::find(request.algorithms.begin(), request.algorithms.end(),
                              bench::kOwnBlas) != request.algorithms.end();
  for (const auto& [asked, what] : {std::pair{!request.threads.empty(), "--threads"},
                                    {request.idle > 0, "--idle"},
                                    {request.first_call, "--first-call"},
                                    {blas, "the algorithm blas"}}) {
    if (asked)
      throw Error(Category::argument, cat(what, " applies to the CPU, not to a GPU"), {}, {},
                  "omit it, or omit --device");
  }
}

/// The device to measure on; none for the CPU.
std::shared_ptr<bench::BenchDevice> device_of(const bench::BenchRequest& request) {
  if (request.device == "cpu") return nullptr;
  require_no_processor(request);
  const std::string device = named_device(request.device);
  if (!device.starts_with("cuda")) return bench::open_opencl_bench(device);
  return bench::open_cuda_bench(device);
}

std::vector<std::string> names_of(const std::vector<bench::Peer>& peers) {
  std::vector<std::string> out;
  for (const auto& peer : peers) out.push_back(peer.name);
  return out;
}

/// The peers on a device; warns about a peer that is skipped.
std::vector<bench::Peer> device_peers(const shell::Context& context,
                                      const bench::BenchRequest& request, const shell::Types& types,
                                      const bench::BenchDevice& device) {
  std::vector<bench::Peer> out;
  if (request.peers == "none") return out;
  const bool automatic = request.peers == "auto";
  const auto there = device.peers();
  if (automatic && there.empty()) context.warn(cat("peer skipped: ", device.missing_peers()));
  if (automatic) {
    for (const auto& peer : there) {
      if (peer.supports(types)) out.push_back(peer);
    }
    return out;
  }
  for (const auto& wanted : shell::split(request.peers, ',')) {
    const auto at = std::find_if(there.begin(), there.end(),
                                 [&](const bench::Peer& each) { return each.name == wanted; });
    if (at == there.end())
      throw Error(Category::unavailable, cat("no peer '", wanted, "' on ", device.name()),
                  there.empty() ? "" : shell::join(names_of(there)), {}, device.missing_peers());
    out.push_back(*at);
  }
  return out;
}

/// The peers to measure against; warns about libraries that are installed but do not work.
std::vector<bench::Peer> peers_of(const shell::Context& context, const bench::BenchRequest& request,
                                  const shell::Types& types) {
  if (request.peers == "none") return {};
  std::vector<bench::Peer> out;
  const bool automatic = request.peers == "auto";
  const bench::PeerSearch search = bench::search_peers();
  for (const auto& missing : search.missing) {
    if (missing.package.empty()) context.warn(cat("peer skipped: ", missing.reason));
  }
  if (automatic) {
    for (const auto& peer : search.found) {
      if (peer.supports(types)) out.push_back(peer);
    }
    return out;
  }
  for (const auto& wanted : shell::split(request.peers, ',')) {
    if (wanted.find('/') != std::string::npos) {
      out.push_back(bench::peer_at(wanted, ""));
      continue;
    }
    const auto at = std::find_if(search.found.begin(), search.found.end(),
                                 [&](const bench::Peer& each) { return each.name == wanted; });
    if (at != search.found.end()) {
      out.push_back(*at);
      continue;
    }
    std::vector<std::string> names;
    for (const auto& each : search.found) names.push_back(each.name);
    std::string advice = "give a path for a library elsewhere";
    for (const auto& each : search.missing) {
      if (each.name == wanted && !each.package.empty()) advice = "install " + each.package;
    }
    throw Error(Category::unavailable, cat("no peer '", wanted, "' on this machine"),
                names.empty() ? "" : "one of " + shell::join(names), {}, advice);
  }
  return out;
}

// ---- the command --------------------------------------------------------------------------------

void require_memory_for(const std::vector<bench::Shape>& shapes, const shell::Types& types,
                        std::size_t contestants) {
  double most = 0;
  for (const auto& shape : shapes) {
    const bench::BenchCase now{types, shape};
    const auto sets = static_cast<double>(now.sets());
    const double verifier = 24.0 * static_cast<double>(shape.M) * static_cast<double>(shape.N) *
                            static_cast<double>(now.products());
    most = std::max(most, sets * now.bytes() * static_cast<double>(contestants + 1) + verifier);
  }
  shell::require_memory(most, cat("the largest size with ", contestants, " contestants"));
}

/// As below, for a device, whose algorithms do not say how much memory a product needs.
void choose_device_algorithms(const bench::BenchRequest& request, bench::BenchSettings& out) {
  const Problem any = bench::problem_of({out.types, {1, 1, 1}});
  const bool all = request.algorithms.empty();
  std::vector<std::string> names = all ? shell::algorithm_names() : request.algorithms;
  if (all) names.emplace_back(bench::kAutomatic);
  for (const auto& name : names) {
    try {
      (void)make_plan(any, {.algorithm = name, .device = out.device->name()});
      out.algorithms.push_back(name);
    } catch (const Error&) {
      if (!all) throw;
    }
  }
}

/// An algorithm that is named must be able to run. Without names, all that can run do; -v names the
/// others.
void choose_algorithms(const shell::Context& context, const bench::BenchRequest& request,
                       bench::BenchSettings& out) {
  const auto& named = request.algorithms;
  const bool all = named.empty();
  const bool blas_named = std::find(named.begin(), named.end(), bench::kOwnBlas) != named.end();
  out.algorithms = all ? shell::algorithm_names() : named;
  std::erase(out.algorithms, bench::kOwnBlas);
  const Problem any = bench::problem_of({out.types, {1, 1, 1}});
  std::erase_if(out.algorithms, [&](const std::string& name) {
    try {
      (void)make_plan(any, {.algorithm = name == bench::kPlanOnce ? "packed" : name});
      return false;
    } catch (const Error& error) {  // refused before any work
      if (!all) throw;
      context.detail(cat(name, " skipped: ", error.what()));
      return true;
    }
  });
  if (!all && !blas_named) return;
  out.blas = bench::own_blas();
  if (blas_named && !out.blas)
    throw Error(Category::unavailable, "libtessera_blas.so.0 is not found beside the command", {},
                {}, "build or install it");
  if (out.blas && !out.blas->supports(out.types)) {
    if (blas_named)
      throw Error(Category::argument, cat("blas cannot run this product: it has no ",
                                          to_string(out.types), " product"));
    out.blas.reset();
  }
}

bench::BenchSettings settings_of(const shell::Context& context,
                                 const bench::BenchRequest& request) {
  bench::BenchSettings out;
  out.types = shell::parse_types(request.dtype);
  require_product(out.types);
  out.shapes = shapes_of(request);
  const auto updates = std::find_if(out.shapes.begin(), out.shapes.end(),
                                    [](const bench::Shape& shape) { return shape.updates; });
  if (request.device != "cpu" && updates != out.shapes.end())
    throw Error(Category::argument,
                cat("updates cannot be measured on a GPU: '", to_string(*updates), "'"),
                "sizes without the suffix -update", {}, "leave it out, or --device");
  out.threads = threads_of(request);
  out.readiness = readiness_of(request);
  out.device = device_of(request);
  out.repetitions = request.repetitions > 0 ? request.repetitions
                    : out.device            ? bench::kDeviceRepetitions
                                            : bench::kDefaultRepetitions;
  out.min_time = request.min_time, out.max_time = request.max_time;
  out.seed = request.seed;
  if (out.device) {
    out.threads = {1};
    choose_device_algorithms(request, out);
    out.peers = device_peers(context, request, out.types, *out.device);
  } else {
    choose_algorithms(context, request, out);
    out.peers = peers_of(context, request, out.types);
  }
  return out;
}

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
  const bench::BenchSettings settings = settings_of(context, request);
  const std::size_t contestants = settings.algorithms.size() + settings.peers.size() + 1;
  require_memory_for(settings.shapes, settings.types, settings.device ? 0 : contestants);
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
  request->device = default_device();
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
