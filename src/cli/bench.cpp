// tessera bench: how fast every algorithm multiplies, beside every other BLAS on this machine and
// the machine's own peak. Every result is verified before it is timed. All contestants take turns,
// so that what disturbs the machine disturbs all alike; a failure costs its own row, no other.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "bench_report.hpp"
#include "build_info.hpp"
#include "commands.hpp"
#include "machine.hpp"
#include "options.hpp"
#include "peak.hpp"
#include "progress.hpp"
#include "suggest.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/io/array.hpp"
#include "tessera/io/atomic_file.hpp"
#include "tessera/matmul/plan.hpp"
#include "tessera/matmul/verify.hpp"

namespace tessera::cli {

namespace {

using nlohmann::ordered_json;
using Kind = Contestant::Kind;
using Clock = std::chrono::steady_clock;

#if !defined(TESSERA_CXX_FLAGS)
#define TESSERA_CXX_FLAGS ""
#endif

/// A product that would take longer than this many times --max-time is not even tried.
constexpr double kTriesOverBudget = 12;
/// A side of the small product that tells how fast each contestant is about.
constexpr index_t kProbeSide = 96;
/// A verification takes about as long as this many plain products (see Verifier).
constexpr double kVerifierProducts = 3;

enum class Form { table, json, csv, markdown };

struct Request {
  std::string sizes, m, n, k;
  std::vector<std::string> algorithms;  // empty: all
  std::string dtype = "f32";
  std::string threads, peers = "auto";
  int repetitions = 5;
  double min_time = 0.05, max_time = 5;
  std::uint64_t seed = 1;
  bool csv = false, markdown = false, no_host = false, force = false;
  std::string plot, output, from;
  std::vector<std::string> extra_context;
};

// ---- what is asked ------------------------------------------------------------------------------

Form form_of(const Context& context, const Request& request) {
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

std::vector<Extents> sizes_of(const Request& request) {
  const bool rectangles = !request.m.empty() || !request.n.empty() || !request.k.empty();
  if (rectangles && !request.sizes.empty())
    throw Error(Category::argument, "both --sizes and -m, -n, -k given", "one of them");
  if (!rectangles) return parse_sizes(request.sizes.empty() ? "64:1024:x2" : request.sizes);
  if (request.m.empty() || request.n.empty() || request.k.empty())
    throw Error(Category::argument, "-m, -n and -k belong together", "all three", {},
                "use --sizes for cubes");
  return all_combinations(parse_extents(request.m), parse_extents(request.n),
                          parse_extents(request.k));
}

std::vector<int> threads_of(const Request& request) {
  if (request.threads.empty()) return {default_threads()};
  std::vector<int> out;
  for (index_t count : parse_extents(request.threads)) {
    if (count > 4096)
      throw Error(Category::argument, "too many threads", "at most 4096", std::to_string(count));
    out.push_back(static_cast<int>(count));
  }
  return out;
}

/// The peers to measure against; warns of libraries that are there but do not work.
std::vector<Peer> peers_of(const Context& context, const Request& request, DType type) {
  if (request.peers == "none") return {};
  std::vector<Peer> out;
  const bool automatic = request.peers == "auto";
  if (automatic && type != DType::f32 && type != DType::f64) return {};
  const PeerSearch search = search_peers();
  for (const auto& missing : search.missing) {
    if (missing.package.empty()) context.warn(cat("peer left out: ", missing.reason));
  }
  if (automatic) {
    for (const auto& peer : search.found) {
      if (peer.supports(type)) out.push_back(peer);
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

// ---- what is known about the run
// ------------------------------------------------------------------

std::string date_text() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[40];
  const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S%z", &local);
  return {text, size};
}

std::string method_text(const Request& request) {
  return fmt::format(
      "every element of every result is compared with an independent, more precise product before "
      "anything is timed; then all contestants take turns, {} rounds, each turn at least {:g} s "
      "and one sample; each contestant runs in a process of its own, stopped while others are "
      "measured; figures are medians, spread is the median distance from the median, shares of "
      "the peak and ratios are taken turn by turn.",
      request.repetitions, request.min_time);
}

ordered_json peers_json(const std::vector<Peer>& peers) {
  ordered_json out = ordered_json::array();
  for (const auto& peer : peers) {
    out.push_back({{"name", peer.name},
                   {"version", peer.version},
                   {"settings", peer.settings},
                   {"environment", environment_text(peer)},
                   {"file", peer.path}});
  }
  return out;
}

ordered_json context_json(const Request& request, const std::vector<Peer>& peers) {
  const Machine machine = describe_machine();
  ordered_json out;
  out["date"] = date_text();
  if (!request.no_host) out["host_name"] = machine.host;
  out["executable"] = "tessera";
  out["num_cpus"] = machine.cpus_allowed;
  out["mhz_per_cpu"] = std::lround(machine.mhz);
  out["cpu_scaling_enabled"] = !machine.governor.empty() && machine.governor != "performance";
  out["caches"] = ordered_json::array();
  for (const auto& cache : machine.caches) {
    out["caches"].push_back({{"type", cache.type},
                             {"level", cache.level},
                             {"size", cache.bytes},
                             {"num_sharing", cache.shared_by}});
  }
  out["load_avg"] = machine.load;
  out["library_build_type"] = build_type();
  out["json_schema_version"] = 1;
  out["version"] = TESSERA_VERSION;
  out["compiler"] = compiler_text();
  out["flags"] = TESSERA_CXX_FLAGS;
  out["cpu_model"] = machine.cpu_model;
  out["instruction_sets"] = join(instruction_sets(), " ");
  out["kernel"] = machine.kernel;
  out["transparent_huge_pages"] = machine.transparent_huge_pages;
  out["dtype"] = request.dtype;
  out["seed"] = request.seed;
  out["min_time"] = request.min_time;
  out["max_time"] = request.max_time;
  out["peak"] = peak_chain(parse_dtype(request.dtype)).instructions;
  out["method"] = method_text(request);
  out["peers"] = peers_json(peers);
  for (const auto& each : request.extra_context) {
    const auto equals = each.find('=');
    if (equals == std::string::npos || equals == 0)
      throw Error(Category::argument, "--context", "KEY=VALUE", cat("'", each, "'"));
    const std::string key = each.substr(0, equals);
    if (out.contains(key))
      throw Error(Category::argument, cat("--context: '", key, "' is measured, not given"));
    out[key] = each.substr(equals + 1);
  }
  return out;
}

// ---- measuring ----------------------------------------------------------------------------------

/// Files that show what is finished so far: replaced as a whole after each case.
class Outputs {
 public:
  Outputs(const Request& request) {
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

struct Entrant {
  std::unique_ptr<Contestant> contestant;
  double rate = 0;  ///< multiplications and additions a second, as last seen; 0: unknown
};

Arithmetic arithmetic_of(const BenchRow& row) {
  // The matrix units of the ladder round f32 inputs to TF32.
  const bool units = row.kind == Kind::algorithm && row.name == "tensor_core";
  return units && row.on.type == DType::f32 ? Arithmetic::tf32 : Arithmetic::native;
}

RowStatus status_of(const Error& error) {
  const bool not_offered =
      exit_code(error.category()) == 2 || error.category() == Category::unavailable;
  return not_offered ? RowStatus::unsupported : RowStatus::failed;
}

class Bench {
 public:
  Bench(const Context& context, const Request& request, std::vector<Extents> sizes,
        std::vector<int> threads, const std::vector<Peer>& peers)
      : context_(context),
        request_(request),
        type_(parse_dtype(request.dtype)),
        sizes_(std::move(sizes)) {
    results_.context = context_json(request, peers);
    std::vector<std::string> names = request.algorithms;
    if (names.empty()) names = algorithm_names();
    // Contestants come first: a process may only be forked while this one has no threads.
    for (int count : threads) {
      auto& field = fields_.emplace_back();
      for (const auto& name : names) field.push_back({Contestant::algorithm(name, count, shared_)});
      for (const auto& peer : peers) field.push_back({Contestant::peer(peer, count, shared_)});
      field.push_back({Contestant::peak(count)});
    }
  }

  /// `finished` is called after each case with everything found so far.
  const BenchResults& run(const std::function<void(const BenchResults&)>& finished) {
    for (auto& field : fields_) probe(field);
    const double expected = expected_seconds();
    context_.note(fmt::format("{} on {}, {} contestants, about {}",
                              sizes_.size() == 1 ? "1 size" : cat(sizes_.size(), " sizes"),
                              thread_text(), fields_.front().size(), duration_text(expected)));
    for (auto& field : fields_) {
      for (const auto& extents : sizes_) {
        const BenchCase now{type_, extents, field.front().contestant->threads()};
        Progress progress(context_,
                          cat(type_, " ", to_string(extents), ", ", now.threads,
                              now.threads == 1 ? " thread" : " threads"),
                          case_seconds(field, now));
        measure(field, now, progress);
        progress.finish();
        finished(results_);
      }
      field.clear();  // ends the processes
    }
    return results_;
  }

 private:
  std::string thread_text() const {
    std::vector<std::string> counts;
    for (const auto& field : fields_)
      counts.push_back(std::to_string(field.front().contestant->threads()));
    return join(counts, " and ") +
           (counts == std::vector<std::string>{"1"} ? " thread" : " threads");
  }

  static Problem problem_of(const SharedOperands& shared) {
    return make_problem(shared.A(), shared.B(), shared.C());
  }

  /// One small product of everyone: how fast is it about?
  void probe(std::vector<Entrant>& field) {
    Extents extents = sizes_.front();
    for (const auto& each : sizes_) {
      const auto volume = [](const Extents& e) { return double(e.M) * double(e.N) * double(e.K); };
      if (volume(each) < volume(extents)) extents = each;
    }
    extents = {std::min(extents.M, kProbeSide), std::min(extents.N, kProbeSide),
               std::min(extents.K, kProbeSide)};
    const BenchCase now{type_, extents, field.front().contestant->threads()};
    shared_.prepare(now, request_.seed);
    for (auto& entrant : field) {
      try {
        entrant.rate = now.flops() / std::max(1e-9, entrant.contestant->prepare(now));
      } catch (const Error&) {
        entrant.rate = 0;  // it says why when its first case comes
      }
    }
    const auto start = Clock::now();
    const Verifier verifier(problem_of(shared_), shared_.A(), shared_.B(), shared_.C());
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    verifier_rate_ = kVerifierProducts * now.flops() / std::max(1e-6, seconds);
  }

  /// Of one product, from the speed last seen; 0 where nothing is known.
  static double expected_product(const Entrant& entrant, const BenchCase& now) {
    return entrant.rate > 0 ? now.flops() / entrant.rate : 0;
  }

  bool too_slow(const Entrant& entrant, const BenchCase& now) const {
    return expected_product(entrant, now) > kTriesOverBudget * request_.max_time;
  }

  int repetitions_for(double product_seconds) const {
    const double fit = request_.max_time / std::max(product_seconds, request_.min_time);
    return static_cast<int>(std::clamp(fit, 1.0, static_cast<double>(request_.repetitions)));
  }

  /// What a contestant's part of a case takes: one product to verify, a second one, the turns.
  double entrant_seconds(const Entrant& entrant, const BenchCase& now) const {
    if (too_slow(entrant, now)) return 0;
    const double product = expected_product(entrant, now);
    return 2 * product + repetitions_for(product) * 1.3 * std::max(product, request_.min_time);
  }

  double case_seconds(const std::vector<Entrant>& field, const BenchCase& now) const {
    double out = kVerifierProducts * now.flops() / verifier_rate_;
    for (const auto& entrant : field) out += entrant_seconds(entrant, now);
    return out;
  }

  double expected_seconds() const {
    double out = 0;
    for (const auto& field : fields_) {
      for (const auto& extents : sizes_)
        out += case_seconds(field, {type_, extents, field.front().contestant->threads()});
    }
    return out;
  }

  /// One product into the shared result, and what the verifier says of it.
  double verified_product(Entrant& entrant, BenchRow& row, const Verifier& verifier) {
    try {
      shared_.spoil_result();
      const double seconds = entrant.contestant->prepare(row.on);
      entrant.rate = row.on.flops() / std::max(1e-9, seconds);
      if (row.kind == Kind::peak) return seconds;
      const Verification check = verifier.check(shared_.C(), arithmetic_of(row));
      row.max_error_ratio = check.max_error_ratio;
      if (!check.within_bound) {
        row.status = RowStatus::refused;
        row.message =
            fmt::format("wrong at ({},{}): expected {:.9g}, got {:.9g}; {} of {} elements",
                        check.row, check.col, check.expected, check.got, check.outside,
                        row.on.extents.M * row.on.extents.N);
      }
      return seconds;
    } catch (const Error& error) {
      row.status = status_of(error);
      row.message = error.what();
      return 0;
    }
  }

  void measure(std::vector<Entrant>& field, const BenchCase& now, Progress& progress) {
    shared_.prepare(now, request_.seed);
    const Verifier verifier(problem_of(shared_), shared_.A(), shared_.B(), shared_.C());
    double done = kVerifierProducts * now.flops() / verifier_rate_;
    std::vector<BenchRow> rows;
    std::vector<double> product_seconds;
    for (auto& entrant : field) {
      BenchRow row{entrant.contestant->name(), entrant.contestant->kind(), now, {}, {}, 0, {}};
      double seconds = 0;
      if (too_slow(entrant, now)) {
        row.status = RowStatus::skipped;
        row.message = cat("one product would take about ",
                          duration_text(expected_product(entrant, now)), "; raise --max-time");
      } else {
        seconds = verified_product(entrant, row, verifier);
      }
      progress.update(done += seconds);
      product_seconds.push_back(seconds);
      rows.push_back(std::move(row));
    }
    take_turns(field, rows, product_seconds, progress, done);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      finish_row(field[i], rows[i]);
      results_.rows.push_back(std::move(rows[i]));
    }
  }

  /// Round by round, each time beginning with the next contestant; a round before the first warms
  /// up those to whom it costs little.
  void take_turns(std::vector<Entrant>& field, std::vector<BenchRow>& rows,
                  const std::vector<double>& product_seconds, Progress& progress, double done) {
    const std::size_t count = field.size();
    for (int turn = -1; turn < request_.repetitions; ++turn) {
      for (std::size_t step = 0; step < count; ++step) {
        const std::size_t i = (step + static_cast<std::size_t>(turn + 1)) % count;
        if (rows[i].status != RowStatus::verified) continue;
        const bool warm_up = turn < 0;
        if (warm_up && product_seconds[i] > request_.min_time) continue;
        if (turn >= repetitions_for(product_seconds[i])) continue;
        try {
          Sample sample = field[i].contestant->turn(request_.min_time);
          sample.turn = turn;
          if (!warm_up) rows[i].samples.push_back(sample);
          progress.update(done += sample.seconds * static_cast<double>(sample.iterations));
        } catch (const Error& error) {
          rows[i].status = RowStatus::failed;
          rows[i].message = error.what();
          rows[i].samples.clear();
        }
      }
    }
  }

  void finish_row(Entrant& entrant, BenchRow& row) const {
    const auto taken = static_cast<int>(row.samples.size());
    if (row.status == RowStatus::verified && taken < request_.repetitions)
      row.message = cat(taken, " of ", request_.repetitions, " repetitions (--max-time)");
    try {
      entrant.contestant->release();
    } catch (const Error&) {
      // It is gone already, and its row says so.
    }
  }

  const Context& context_;
  const Request& request_;
  DType type_;
  std::vector<Extents> sizes_;
  SharedOperands shared_;
  std::vector<std::vector<Entrant>> fields_;  // one for each number of threads
  double verifier_rate_ = 1e9;
  BenchResults results_;
};

// ---- the command --------------------------------------------------------------------------------

void require_memory_for(const std::vector<Extents>& sizes, DType type, std::size_t contestants) {
  double most = 0;
  for (const auto& extents : sizes) {
    const BenchCase now{type, extents, 1};
    const double verifier = 24.0 * static_cast<double>(extents.M) * static_cast<double>(extents.N);
    most = std::max(most, now.bytes() * static_cast<double>(contestants + 1) + verifier);
  }
  require_memory(most, cat("the largest size with ", contestants, " contestants"));
}

/// What a user must know about rows without figures, on stderr; the exit code.
int judged(const Context& context, const BenchResults& results) {
  int code = 0;
  for (const auto& row : results.rows) {
    const std::string what =
        cat(row.name, ", ", row.on.type, " ", to_string(row.on.extents), ", ", row.on.threads,
            " threads, ", to_string(row.status), ": ", row.message);
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

int show_kept(const Context& context, const Request& request, Form form) {
  const BenchResults results = read_results(request.from);
  Outputs(request).write(results);
  if (form != Form::table) {
    context.print(text_in(form, results));
  } else {
    const BenchRow* last = nullptr;
    for (const auto& row : results.rows) {
      if (last == nullptr || !same_case(*last, row)) print_table(context, results, row);
      last = &row;
    }
  }
  return judged(context, results);
}

int bench(const Context& context, const Request& request) {
  const Form form = form_of(context, request);
  if (!request.from.empty()) return show_kept(context, request, form);
  const Outputs outputs(request);
  const auto sizes = sizes_of(request);
  const auto threads = threads_of(request);
  const DType type = parse_dtype(request.dtype);
  const auto peers = peers_of(context, request, type);
  require_memory_for(
      sizes, type,
      (request.algorithms.empty() ? algorithms().size() : request.algorithms.size()) +
          peers.size() + 1);
  Bench run(context, request, sizes, threads, peers);
  const BenchResults& results = run.run([&](const BenchResults& so_far) {
    outputs.write(so_far);
    if (form == Form::table) print_table(context, so_far, so_far.rows.back());
  });
  if (form != Form::table) context.print(text_in(form, results));
  return judged(context, results);
}

/// An option whose text `check` refuses by throwing.
template <class Check>
void add_text(CLI::App& app, const std::string& flags, std::string& target, const char* type_name,
              std::string description, Check check) {
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

void add_seconds(CLI::App& app, const char* flag, double& target, const char* description) {
  app.add_option_function<std::string>(
         flag,
         [&target, flag](const std::string& text) {
           char* end = nullptr;
           const double value = std::strtod(text.c_str(), &end);
           if (text.empty() || *end != '\0' || !(value > 0) || value > 1e6)
             throw CLI::ValidationError(
                 flag, cat("expected seconds, above 0 and at most 1e6, got '", text, "'"));
           target = value;
         },
         description)
      ->type_name("SECONDS");
}

void add_what(CLI::App& app, Request& request) {
  const auto extents = [](const std::string& text) { parse_extents(text); };
  add_text(
      app, "--sizes", request.sizes, "LIST",
      "Sizes: 512, 64:1024:x2, 64:1024:+64, 4096x16x4096, joined by commas; default 64:1024:x2",
      [](const std::string& text) { parse_sizes(text); });
  add_text(app, "-m", request.m, "LIST", "Rows of A and C; with -n and -k: every combination",
           extents);
  add_text(app, "-n", request.n, "LIST", "Columns of B and C", extents);
  add_text(app, "-k", request.k, "LIST", "Columns of A, rows of B", extents);
  add_algorithms(app, "--algorithms", request.algorithms,
                 "Algorithms, joined by commas; default all");
  add_dtype(app, "--dtype", request.dtype, "Element type of A, B and C; default f32");
  add_text(app, "--threads", request.threads, "LIST",
           "Numbers of threads, such as 1,2; default: TESSERA_NUM_THREADS, then OMP_NUM_THREADS, "
           "then the cores of this process",
           extents);
  app.add_option(
         "--peers", request.peers,
         "Other BLAS libraries to measure against: auto (all that are found), none, or names "
         "and paths joined by commas; TESSERA_PEERS=PATH[:PATH] adds to those found")
      ->type_name("auto|none|LIST");
}

void add_how(CLI::App& app, Request& request) {
  add_count(app, "--repetitions", request.repetitions, "Samples of each contestant; default 5");
  add_seconds(app, "--min-time", request.min_time, "Length of one sample at least; default 0.05");
  add_seconds(app, "--max-time", request.max_time,
              "For each contestant and size: slower ones get fewer samples; default 5");
  add_seed(app, "--seed", request.seed, "Seed of the random matrices; default 1");
  app.add_flag("--no-host", request.no_host, "Leave the name of this machine out of the results");
  app.add_option("--context", request.extra_context,
                 "Adds KEY=VALUE to the results, for instance commit=1a2b3c")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
}

}  // namespace

void add_bench(CLI::App& root, Context& context) {
  auto request = std::make_shared<Request>();
  CLI::App* app = add_command(
      root, context, "bench",
      "Measure algorithms beside other BLAS libraries and the machine's peak.",
      "  tessera bench --sizes 64:1024:x2\n"
      "  tessera bench --sizes 512 --threads 1,2 --peers openblas,blis --plot ladder.svg\n"
      "  tessera bench -m 16 -n 4096 -k 1024:4096:x2 --algorithms block_tiled -o results.json\n"
      "  tessera bench --from results.json --markdown\n"
      "\n"
      "Every result is verified before it is timed; a wrong one is reported, not measured (exit "
      "1).");
  add_what(*app, *request);
  add_how(*app, *request);
  add_json_option(*app, context, "JSON as google/benchmark writes it, raw samples included");
  app->add_flag("--csv", request->csv, "CSV with one header line");
  app->add_flag("--markdown", request->markdown, "Tables for a document");
  app->add_option("--plot", request->plot,
                  "Draw speed over size, or the ladder where there is one size")
      ->type_name("FILE");
  app->add_option("-o,--output", request->output,
                  "Also write .json, .csv or .md; kept up to date while running")
      ->type_name("FILE");
  app->add_flag("--force", request->force, "Replace files that exist");
  app->add_option("--from", request->from, "Measure nothing: show results kept as JSON")
      ->type_name("FILE");
  app->callback([&context, request] {
    context.action = [&context, request] { return bench(context, *request); };
  });
}

}  // namespace tessera::cli
