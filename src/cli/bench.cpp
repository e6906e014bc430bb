// `tessera bench`: how fast every algorithm multiplies, beside every other BLAS on this machine and
// the machine's own peak. What is asked and where the results go; the run is bench_run.cpp.
#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>

#include "algorithm_options.hpp"
#include "bench_compare.hpp"
#include "bench_context.hpp"
#include "bench_cuda.hpp"
#include "bench_options.hpp"
#include "bench_run.hpp"
#include "bench_sizes.hpp"
#include "commands.hpp"
#include "contestant.hpp"
#include "device.hpp"
#include "machine.hpp"
#include "signals.hpp"
#include "suggest.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/io/array.hpp"
#include "tessera/io/atomic_file.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::cli {

namespace {

enum class Form { table, json, csv, markdown };

// ---- what is asked ------------------------------------------------------------------------------

Form form_of(const Context& context, const BenchRequest& request) {
  const int asked = int{context.json} + int{request.csv} + int{request.markdown};
  if (asked > 1)
    throw Error(Category::argument, "more than one form of output asked for",
                "one of --json, --csv and --markdown", {}, "use -o FILE for a second form");
  return context.json       ? Form::json
         : request.csv      ? Form::csv
         : request.markdown ? Form::markdown
                            : Form::table;
}

bool ends_with(const std::string& text, const char* ending) {
  return std::string_view(text).ends_with(ending);
}

Form form_of_file(const std::string& path) {
  if (ends_with(path, ".json")) return Form::json;
  if (ends_with(path, ".csv")) return Form::csv;
  if (ends_with(path, ".md")) return Form::markdown;
  throw Error(Category::argument, cat("cannot tell the form of '", path, "' from its name"),
              "a name that ends with .json, .csv or .md");
}

std::string text_in(Form form, const BenchResults& results) {
  if (form == Form::json) return to_json(results);
  if (form == Form::csv) return to_csv(results);
  return to_markdown(results);
}

std::vector<Shape> shapes_of(const BenchRequest& request) {
  const bool rectangles = !request.m.empty() || !request.n.empty() || !request.k.empty();
  if (int{rectangles} + int{!request.sizes.empty()} + int{!request.suite.empty()} > 1)
    throw Error(Category::argument, "more than one of --sizes, --suite and -m, -n, -k given",
                "one of them");
  if (!request.suite.empty()) return suite_shapes(request.suite);
  if (!rectangles) return parse_sizes(request.sizes.empty() ? "64:1024:x2" : request.sizes);
  if (request.m.empty() || request.n.empty() || request.k.empty())
    throw Error(Category::argument, "-m, -n and -k belong together", "all three", {},
                "use --sizes for cubes");
  return all_combinations(parse_extents(request.m), parse_extents(request.n),
                          parse_extents(request.k));
}

std::vector<int> threads_of(const BenchRequest& request) {
  if (request.threads.empty()) return {default_threads()};
  std::vector<int> out;
  for (index_t count : parse_thread_counts(request.threads)) out.push_back(static_cast<int>(count));
  return out;
}

/// Call after call, and beside it what else is asked for.
std::vector<Readiness> readiness_of(const BenchRequest& request) {
  std::vector<Readiness> out = {{}};
  if (request.idle > 0) out.push_back({request.idle, false});
  if (request.first_call) out.push_back({0, true});
  return out;
}

/// What belongs to this machine's processor is not asked of a device, nor ignored there.
void require_no_processor(const BenchRequest& request) {
  const bool blas = std::find(request.algorithms.begin(), request.algorithms.end(), kOwnBlas) !=
                    request.algorithms.end();
  for (const auto& [asked, what] : {std::pair{!request.threads.empty(), "--threads"},
                                    {request.idle > 0, "--idle"},
                                    {request.first_call, "--first-call"},
                                    {blas, "the algorithm blas"}}) {
    if (asked)
      throw Error(Category::argument, cat(what, " is for the processor, not for a GPU"), {}, {},
                  "leave it out, or --device");
  }
}

/// The device to measure on; none for the processor.
std::shared_ptr<BenchDevice> device_of(const BenchRequest& request) {
  if (request.device == "cpu") return nullptr;
  require_no_processor(request);
  return open_cuda_bench(named_device(request.device));
}

/// The peers on a device; says why one is left out.
std::vector<Peer> device_peers(const Context& context, const BenchRequest& request,
                               const Types& types, const BenchDevice& device) {
  std::vector<Peer> out;
  if (request.peers == "none") return out;
  const bool automatic = request.peers == "auto";
  const auto there = device.peers();
  if (automatic && there.empty()) context.warn(cat("peer left out: ", device.missing_peers()));
  if (automatic) {
    for (const auto& peer : there) {
      if (peer.supports(types)) out.push_back(peer);
    }
    return out;
  }
  for (const auto& wanted : split(request.peers, ',')) {
    const auto at = std::find_if(there.begin(), there.end(),
                                 [&](const Peer& each) { return each.name == wanted; });
    if (at == there.end())
      throw Error(Category::unavailable, cat("no peer '", wanted, "' on ", device.name()),
                  there.empty() ? "" : "cublas or cublas-tf32", {}, device.missing_peers());
    out.push_back(*at);
  }
  return out;
}

/// The peers to measure against; warns of libraries that are there but do not work.
std::vector<Peer> peers_of(const Context& context, const BenchRequest& request,
                           const Types& types) {
  if (request.peers == "none") return {};
  std::vector<Peer> out;
  const bool automatic = request.peers == "auto";
  const PeerSearch search = search_peers();
  for (const auto& missing : search.missing) {
    if (missing.package.empty()) context.warn(cat("peer left out: ", missing.reason));
  }
  if (automatic) {
    for (const auto& peer : search.found) {
      if (peer.supports(types)) out.push_back(peer);
    }
    return out;
  }
  for (const auto& wanted : split(request.peers, ',')) {
    if (wanted.find('/') != std::string::npos) {
      out.push_back(peer_at(wanted, ""));
      continue;
    }
    const auto at = std::find_if(search.found.begin(), search.found.end(),
                                 [&](const Peer& each) { return each.name == wanted; });
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
                names.empty() ? "" : "one of " + join(names), {}, advice);
  }
  return out;
}

// ---- where results go ---------------------------------------------------------------------------

/// Files that show what is finished so far: replaced as a whole after each case.
class Outputs {
 public:
  Outputs(const BenchRequest& request) {
    if (!request.output.empty()) add(request.output, form_of_file(request.output), request.force);
    if (request.plot.empty()) return;
    if (!ends_with(request.plot, ".svg"))
      throw Error(Category::argument, "--plot writes SVG", "a name that ends with .svg",
                  cat("'", request.plot, "'"));
    add(request.plot, std::nullopt, request.force);
  }

  void write(const BenchResults& results) const {
    for (const auto& [path, form] : files_) {
      AtomicFile file(path, Overwrite::replace);
      file.write(form ? text_in(*form, results) : to_svg(results));
      file.commit();
    }
  }

 private:
  /// A file that cannot be written should be known before hours of measuring, not after.
  void add(const std::string& path, std::optional<Form> form, bool force) {
    for (const auto& [other, unused] : files_) {
      if (other == path) throw Error(Category::argument, cat("'", path, "' is written twice"));
    }
    AtomicFile trial(path, force ? Overwrite::replace : Overwrite::refuse);
    files_.emplace_back(path, form);
  }
  std::vector<std::pair<std::string, std::optional<Form>>> files_;
};

// ---- the command --------------------------------------------------------------------------------

void require_memory_for(const std::vector<Shape>& shapes, const Types& types,
                        std::size_t contestants) {
  double most = 0;
  for (const auto& shape : shapes) {
    const BenchCase now{types, shape};
    const auto sets = static_cast<double>(now.sets());
    const double verifier = 24.0 * static_cast<double>(shape.M) * static_cast<double>(shape.N) *
                            static_cast<double>(now.products());
    most = std::max(most, sets * now.bytes() * static_cast<double>(contestants + 1) + verifier);
  }
  require_memory(most, cat("the largest size with ", contestants, " contestants"));
}

/// What a user must know about rows without figures, on stderr; the exit code.
int judged(const Context& context, const BenchResults& results) {
  int code = 0;
  for (const auto& row : results.rows) {
    const std::string what = cat(row.name, ", ", group_text(row.on), ", ", to_string(row.on.shape),
                                 ", ", to_string(row.status), ": ", row.message);
    if (row.status == RowStatus::refused || row.status == RowStatus::failed) {
      context.error(what);
      code = 1;
    } else if (row.status != RowStatus::verified) {
      context.detail(what);
    }
  }
  return code;
}

BenchResults read_results(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(Category::file, cat("cannot read '", path, "'"));
  std::ostringstream text;
  text << file.rdbuf();
  return parse_bench_json(text.str(), path);
}

void print_table(const Context& context, const BenchResults& results, const BenchRow& row) {
  const CaseTable table = case_table(results, row);
  context.print(context.paint(table.title, Ink::bold) + "\n" + table.text + "\n");
  context.flush();
}

/// Tables come size by size; what only the later ones show of the peak is said behind them.
void print_disturbed(const Context& context, const BenchResults& results) {
  for (const auto* first : distinct(results.rows, same_group)) {
    if (distinct(group_of(results, *first), same_case).size() == 1) continue;
    if (const auto where = disturbed_text(results, *first); !where.empty())
      context.print(cat(group_text(first->on), ": ", where, "\n"));
  }
}

/// What was asked for of kept results. The peak stays: shares are of it.
void keep_asked(const BenchRequest& request, BenchResults& results) {
  const auto named = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const auto& algorithms = request.algorithms;
  if (!algorithms.empty())
    std::erase_if(results.rows, [&](const BenchRow& row) {
      return row.kind == Contestant::Kind::algorithm && !named(algorithms, row.name);
    });
  if (request.peers == "auto") return;
  const auto peers = split(request.peers, ',');
  std::erase_if(results.rows, [&](const BenchRow& row) {
    return row.kind == Contestant::Kind::peer && !named(peers, row.name);
  });
  const auto listed = results.context.find("peers");
  if (listed == results.context.end() || !listed->is_array()) return;
  auto kept = nlohmann::ordered_json::array();
  for (const auto& peer : *listed) {
    if (!peer.is_object()) continue;
    const auto name = peer.find("name");
    if (name != peer.end() && name->is_string() && named(peers, name->get<std::string>()))
      kept.push_back(peer);
  }
  *listed = std::move(kept);
}

int show_kept(const Context& context, const BenchRequest& request, Form form) {
  BenchResults results = read_results(request.from);
  keep_asked(request, results);
  Outputs(request).write(results);
  if (form != Form::table) {
    context.print(text_in(form, results));
  } else {
    // Each as it was printed when it was measured.
    BenchResults so_far{results.context, {}};
    for (std::size_t i = 0; i < results.rows.size(); ++i) {
      so_far.rows.push_back(results.rows[i]);
      if (i + 1 == results.rows.size() || !same_case(results.rows[i], results.rows[i + 1]))
        print_table(context, so_far, results.rows[i]);
    }
    print_disturbed(context, results);
  }
  return judged(context, results);
}

/// As below, on a device, where the algorithms alone do not say what a product takes by itself.
void choose_device_algorithms(const BenchRequest& request, BenchSettings& out) {
  Problem any = parse_problem("m=1 n=1 k=1");
  any.in = out.types.in, any.out = out.types.out;
  const bool all = request.algorithms.empty();
  std::vector<std::string> names = all ? algorithm_names() : request.algorithms;
  if (all) names.emplace_back(kAutomatic);
  for (const auto& name : names) {
    try {
      (void)make_plan(any, {.algorithm = name, .device = out.device->name()});
      out.algorithms.push_back(name);
    } catch (const Error&) {
      if (!all) throw;
    }
  }
}

/// What is named must run; without names, what can run does.
void choose_algorithms(const BenchRequest& request, BenchSettings& out) {
  const auto& named = request.algorithms;
  const bool all = named.empty();
  const bool blas_named = std::find(named.begin(), named.end(), kOwnBlas) != named.end();
  out.algorithms = all ? algorithm_names() : named;
  std::erase(out.algorithms, kOwnBlas);
  if (!all) {  // refused before any work
    Problem any = parse_problem("m=1 n=1 k=1");
    any.in = out.types.in, any.out = out.types.out;
    for (const auto& name : out.algorithms)
      (void)make_plan(any, {.algorithm = name == kPlanOnce ? "packed" : name});
  }
  if (!all && !blas_named) return;
  out.blas = own_blas();
  if (blas_named && !out.blas)
    throw Error(Category::unavailable, "libtessera_blas.so.0 is not beside the command", {}, {},
                "build or install it");
  if (out.blas && !out.blas->supports(out.types)) {
    if (blas_named)
      throw Error(Category::argument,
                  cat("blas cannot run this product: no ", to_string(out.types), " product"));
    out.blas.reset();
  }
}

int show_comparison(const Context& context, const BenchRequest& request, Form form) {
  if (form == Form::csv)
    throw Error(Category::argument, "a comparison has no CSV", "--json or --markdown");
  const BenchResults before = read_results(request.compare[0]),
                     after = read_results(request.compare[1]);
  if (const std::string difference = machine_difference(before, after); !difference.empty()) {
    if (!request.other_machine)
      throw Error(Category::argument, cat("the files come from different machines: ", difference),
                  {}, {}, "compare them all the same with --other-machine");
    context.warn(cat("different machines: ", difference));
  }
  const ComparedResults compared = compare_results(before, after, request.threshold / 100);
  if (compared.comparisons.empty())
    throw Error(Category::file, "no row was measured in both files",
                "the same algorithm or peer, type, size and number of threads in both", {},
                "compare results of one 'tessera bench' command");
  context.print(form == Form::json       ? comparison_json(compared)
                : form == Form::markdown ? comparison_markdown(compared)
                                         : comparison_table(compared));
  return any_worse(compared) ? 1 : 0;
}

BenchSettings settings_of(const Context& context, const BenchRequest& request) {
  BenchSettings out;
  out.types = parse_types(request.dtype);
  require_product(out.types);
  out.shapes = shapes_of(request);
  out.threads = threads_of(request);
  out.readiness = readiness_of(request);
  out.device = device_of(request);
  out.repetitions = request.repetitions > 0 ? request.repetitions : out.device ? 15 : 5;
  out.min_time = request.min_time, out.max_time = request.max_time;
  out.seed = request.seed;
  if (out.device) {
    out.threads = {1};
    choose_device_algorithms(request, out);
    out.peers = device_peers(context, request, out.types, *out.device);
  } else {
    choose_algorithms(request, out);
    out.peers = peers_of(context, request, out.types);
  }
  return out;
}

/// What was found until a signal came; the exit code.
int keep_partial(const Context& context, const Outputs& outputs, Form form,
                 const BenchResults& results, int signal) {
  const auto rows = std::count_if(results.rows.begin(), results.rows.end(),
                                  [](const auto& row) { return !row.samples.empty(); });
  if (rows > 0) {
    outputs.write(results);
    if (form == Form::table) {
      print_table(context, results, results.rows.back());
      print_disturbed(context, results);
    } else context.print(text_in(form, results));
    context.flush();
  }
  context.error(rows > 0 ? cat("interrupted; ", rows, " measured rows are kept")
                         : "interrupted before anything was measured");
  return 128 + signal;
}

int bench(const Context& context, const BenchRequest& request) {
  const Form form = form_of(context, request);
  if (!request.from.empty()) return show_kept(context, request, form);
  if (!request.compare.empty()) return show_comparison(context, request, form);
  const Outputs outputs(request);
  const BenchSettings settings = settings_of(context, request);
  const std::size_t contestants = settings.algorithms.size() + settings.peers.size() + 1;
  require_memory_for(settings.shapes, settings.types, settings.device ? 0 : contestants);
  Bench run(context, settings, context_json(request, settings));
  const InterruptsAreNoted noted;
  try {
    run.run([&](const BenchResults& so_far) {
      outputs.write(so_far);
      if (form == Form::table) print_table(context, so_far, so_far.rows.back());
    });
  } catch (const Interrupted& interrupted) {
    return keep_partial(context, outputs, form, run.results(), interrupted.signal);
  }
  if (form == Form::table) print_disturbed(context, run.results());
  else context.print(text_in(form, run.results()));
  return judged(context, run.results());
}

}  // namespace

void add_bench(CLI::App& root, Context& context) {
  auto request = std::make_shared<BenchRequest>();
  CLI::App* app = add_command(
      root, context, "bench",
      "Measure algorithms beside other BLAS libraries and the machine's peak.",
      "  tessera bench --sizes 64:1024:x2\n"
      "  tessera bench --sizes 512 --threads 1,2 --peers openblas,blis --plot ladder.svg\n"
      "  tessera bench -m 16 -n 4096 -k 1024:4096:x2 --algorithms block_tiled -o results.json\n"
      "  tessera bench --suite skinny,tiny --algorithms packed,blas -o skinny.json\n"
      "  tessera bench --from results.json --markdown\n"
      "  tessera bench --compare old.json new.json\n"
      "\n"
      "Every result is verified before it is timed; a wrong one is reported, not measured (exit "
      "1).");
  add_bench_options(*app, context, *request);
  on_run(*app, context, [&context, request] { return bench(context, *request); });
}

}  // namespace tessera::cli
