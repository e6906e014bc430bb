// The program of a puzzle: runs the spec, and writes the outcome as one JSON document: see
// puzzle/run.hpp.
#include "tessera/puzzle/run.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "check/pictures.hpp"
#include "check/shared_names.hpp"
#include "cuda_launch.hpp"
#include "sandbox.hpp"
#include "tessera/check/format.hpp"
#include "tessera/check/html_report.hpp"
#include "tessera/core/text.hpp"

namespace tessera::puzzle {

using nlohmann::json;

struct Outcome {
  json cases = json::array();  ///< of which only the last may have failed
  check::Counters total;
  bool failed = false;
  bool has_pictures = false;  ///< are pictures requested? Some are large
  std::string file, source;   ///< the learner's: its name, and the file that holds its text
  CudaProgram cuda;           ///< has the learner's kernels if they are in plain CUDA
};

namespace {

json numbers(const HostTensor<float>& m) {
  json out = json::array();
  for (const float x : m) {
    if (std::isfinite(x)) out.push_back(x);
    else out.push_back(std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
  }
  return out;
}

bool is_right(const Output& m, index_t i) {
  return std::abs(double{m.values.data()[i]} - m.expected.data()[i]) <= m.tolerance;
}

bool agree(float got, float other, double tolerance) {
  if (!std::isfinite(got)) return std::isnan(got) == std::isnan(other) && !std::isfinite(other);
  return std::abs(double{got} - double{other}) <= tolerance;
}

/// The first known mistake whose result agrees with every wrong element; null: none.
const Suspect* looks_like(const Output& m) {
  for (const Suspect& each : m.suspects) {
    bool differs = false, agrees = true;
    for (index_t i = 0; i < m.values.size(); ++i) {
      if (is_right(m, i)) continue;
      const float got = m.values.data()[i];
      agrees = agrees && agree(got, each.values.data()[i], m.tolerance);
      differs = differs || got != 0;
    }
    if (agrees && differs) return &each;
  }
  return nullptr;
}

json outcome_of(const Output& m) {
  index_t wrong = 0;
  for (index_t i = 0; i < m.values.size(); ++i) wrong += is_right(m, i) ? 0 : 1;
  json out = {{"name", m.name},
              {"rows", m.values.rows()},
              {"cols", m.values.cols()},
              {"wrong", wrong},
              {"tolerance", m.tolerance},
              {"got", numbers(m.values)},
              {"expected", numbers(m.expected)}};
  const Suspect* const suspect = wrong > 0 ? looks_like(m) : nullptr;
  out["looks_like"] = suspect == nullptr ? "" : suspect->cause;
  out["sentence"] = suspect == nullptr ? "" : suspect->sentence;
  out["advice"] = suspect == nullptr ? "" : suspect->advice;
  if (suspect != nullptr && suspect->k_end > 0)
    out["sum"] = {
        {"begin", suspect->k_begin}, {"end", suspect->k_end}, {"K", m.K}, {"tile", m.k_tile}};
  return out;
}

/// The address of each lane of the worst warp, for each access.
json pictures_of(const check::Report& report) {
  json out = json::array();
  for (const auto& sample : report.samples) {
    const std::string svg = check::access_picture(sample);
    if (svg.empty()) continue;
    out.push_back({{"tensor", sample.tensor},
                   {"memory", name(sample.memory)},
                   {"is_store", sample.is_store},
                   {"line", sample.location.line},
                   {"lane_bytes", sample.bytes},
                   {"transfers", sample.transfers},
                   {"ideal", sample.ideal},
                   {"svg", svg}});
  }
  return out;
}

struct Arguments {
  std::string puzzle, variant, outcome, file, source, cuda;
  double time_limit_s = 5;
  bool has_pictures = false;
};

Arguments arguments_of(int argc, char** argv) {
  Arguments out;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const auto equals = word.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = word.substr(0, equals);
    const std::string value(word.substr(equals + 1));
    if (key == "puzzle") out.puzzle = value;
    else if (key == "variant") out.variant = value;
    else if (key == "outcome") out.outcome = value;
    else if (key == "file") out.file = value;
    else if (key == "cuda") out.cuda = value;
    else if (key == "source") out.source = value;
    else if (key == "pictures") out.has_pictures = value == "1";
    else if (key == "time_limit_s") out.time_limit_s = std::atof(value.c_str());
  }
  return out;
}

/// Written atomically.
bool write(const std::string& path, const std::string& text) {
  const std::string unfinished = path + ".part";
  std::FILE* const file = std::fopen(unfinished.c_str(), "wb");
  if (file == nullptr) return false;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) != 0 || !written) return false;
  std::error_code failed;
  std::filesystem::rename(unfinished, path, failed);
  return !failed;
}

}  // namespace

Run::Run(Outcome& outcome, std::string variant, check::Options options)
    : outcome_(outcome), variant_(std::move(variant)), options_(std::move(options)) {}

bool Run::wants(std::string_view variant) {
  return !failed() && (variant_.empty() || variant_ == variant);
}

bool Run::failed() const { return outcome_.failed; }

bool Run::is_cuda() const { return !outcome_.cuda.program.empty(); }

const check::Counters& Run::total() const { return outcome_.total; }

check::Report Run::launch_in_cuda(const check::Options& options, const detail::CudaLaunch& launch) {
  return run_cuda_launch(outcome_.cuda, options, launch);
}

check::Options Run::begin(const LaunchOptions& how, const std::string& what,
                          std::vector<std::string> names) {
  outcome_.total = {};
  outcome_.cases.push_back(
      {{"what", what}, {"outputs", json::array()}, {"goals", json::array()}, {"report", nullptr}});
  if (how.is_brief) outcome_.cases.back()["brief"] = true;
  if (how.chooses_tiles) outcome_.cases.back()["chooses_tiles"] = true;
  check::Options out = options_;
  out.tensors = std::move(names);
  out.problem = what;
  out.fresh_outputs = !how.adds_to_outputs;
  out.coverage = true;
  out.forget_tiles = !how.changes_tiles;
  return out;
}

void Run::keep(check::Report report) {
  json& last = outcome_.cases.back();
  check::name_shared_tiles(report, [&](const std::string& file) {
    return file == outcome_.file ? check::read_source(outcome_.source) : std::nullopt;
  });
  last["report"] = json::parse(check::to_json(report, check::device_model("h200")));
  last["report"].erase("device");
  if (outcome_.has_pictures) {
    last["pictures"] = pictures_of(report);
    last["stages"] = check::stages_picture(report);
  }
  outcome_.total = report.total;
  // Only a note elsewhere, but an error in an exercise: several threads do the work of one.
  const bool is_done_again =
      std::any_of(report.findings.begin(), report.findings.end(), [](const auto& f) {
        return f.kind == check::Kind::race && f.memory == check::Memory::global;
      });
  outcome_.failed = !report.summary.clean || is_done_again;
}

void Run::compare(const Output& output) {
  outcome_.cases.back()["outputs"].push_back(outcome_of(output));
  if (outcome_.cases.back()["outputs"].back()["wrong"] != 0) outcome_.failed = true;
}

void Run::values(const std::string& what, index_t rows, index_t cols, const Rule& got,
                 const Rule& expected, const std::vector<Known>& mistakes) {
  if (failed()) return;
  begin({}, what, {});
  Output out = output("out", rows, cols, expected);
  expect_mistakes(out, mistakes);
  out.values = std::move(input("out", rows, cols, got).values);
  compare(out);
}

void Run::judge(const std::string& what, double got, double limit, const std::string& advice) {
  if (failed() || outcome_.cases.empty()) return;
  const bool reached = got <= limit;
  outcome_.cases.back()["goals"].push_back(
      {{"what", what}, {"got", got}, {"limit", limit}, {"reached", reached}, {"advice", advice}});
  if (!reached) outcome_.failed = true;
}

int run_main(int argc, char** argv, std::span<const Entry> entries) {
  const Arguments arguments = arguments_of(argc, argv);
  static_cast<void>(is_sandboxed());
  for (const Entry& each : entries) {
    if (arguments.puzzle != each.name) continue;
    Outcome outcome;
    outcome.has_pictures = arguments.has_pictures;
    outcome.file = arguments.file, outcome.source = arguments.source;
    outcome.cuda = {arguments.cuda, arguments.puzzle, arguments.file};
    check::Options options;
    options.threads = 2;
    options.time_limit_s = arguments.time_limit_s;
    json out = json::object();
    try {
      Run run(outcome, arguments.variant, options);
      each.spec(run);
    } catch (const Error& error) {
      out["error"] = error.what();
      out["unavailable"] = error.category() == Category::unavailable;
      outcome.failed = true;
    } catch (const std::exception& error) {
      out["error"] = error.what();
      outcome.failed = true;
    }
    out["cases"] = std::move(outcome.cases);
    out["solved"] = !outcome.failed && !out["cases"].empty();
    if (write(arguments.outcome, out.dump(-1, ' ', false, json::error_handler_t::replace)))
      return 0;
    std::fputs("tessera puzzle: the outcome cannot be written\n", stderr);
    return 1;
  }
  std::fprintf(stderr, "tessera puzzle: no puzzle %s in this program\n", arguments.puzzle.c_str());
  return 1;
}

}  // namespace tessera::puzzle
