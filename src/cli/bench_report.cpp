// Forms of a benchmark's results: see bench_report.hpp.
#include "bench_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "plot.hpp"
#include "progress.hpp"
#include "table.hpp"
#include "tessera/core/error.hpp"

namespace tessera::cli {

namespace {

using nlohmann::ordered_json;
using Kind = Contestant::Kind;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::array<std::string_view, 5> kStatusNames = {"verified", "refused", "failed",
                                                          "unsupported", "skipped"};
constexpr std::array<std::string_view, 3> kKindNames = {"algorithm", "peer", "peak"};

std::string_view name_of(Kind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

bool measured(const BenchRow& row) {
  return row.status == RowStatus::verified && !row.samples.empty();
}

std::vector<double> seconds_of(const BenchRow& row) {
  std::vector<double> out;
  for (const Sample& sample : row.samples) out.push_back(sample.seconds);
  return out;
}

/// other's seconds / row's seconds in every turn that both took: how many times as fast row is.
std::vector<std::pair<int, double>> speed_ratios(const BenchRow& row, const BenchRow& other) {
  std::vector<std::pair<int, double>> out;
  for (const Sample& a : row.samples) {
    for (const Sample& b : other.samples) {
      if (a.turn == b.turn && a.seconds > 0) out.emplace_back(a.turn, b.seconds / a.seconds);
    }
  }
  return out;
}

Summary ratio_summary(const BenchRow& row, const BenchRow& other, double factor) {
  std::vector<double> values;
  for (const auto& [turn, ratio] : speed_ratios(row, other)) values.push_back(ratio * factor);
  return summarize(values);
}

/// The verified rows of the same case and kind.
std::vector<const BenchRow*> others(const BenchResults& results, const BenchRow& row, Kind kind) {
  std::vector<const BenchRow*> out;
  for (const auto& each : results.rows) {
    if (each.kind == kind && measured(each) && same_case(each, row)) out.push_back(&each);
  }
  return out;
}

/// The first of each group of rows that `same` calls equal.
template <class Same>
std::vector<const BenchRow*> distinct(const std::vector<BenchRow>& rows, Same&& same) {
  std::vector<const BenchRow*> out;
  for (const auto& row : rows) {
    if (std::none_of(out.begin(), out.end(), [&](const auto* each) { return same(*each, row); }))
      out.push_back(&row);
  }
  return out;
}

bool same_group(const BenchRow& a, const BenchRow& b) {
  return a.on.type == b.on.type && a.on.threads == b.on.threads;
}
bool same_contestant(const BenchRow& a, const BenchRow& b) {
  return a.name == b.name && a.kind == b.kind;
}

std::vector<BenchRow> group_of(const BenchResults& results, const BenchRow& row) {
  std::vector<BenchRow> out;
  for (const auto& each : results.rows) {
    if (same_group(each, row)) out.push_back(each);
  }
  return out;
}

/// "f32, 2 threads"
std::string group_title(const BenchRow& row) {
  return cat(row.on.type, ", ", row.on.threads, row.on.threads == 1 ? " thread" : " threads");
}

// ---- numbers for people -------------------------------------------------------------------------

/// Three significant digits: 0.512, 5.12, 51.2, 512, 5120.
std::string short_number(double value) {
  if (!std::isfinite(value)) return "-";
  const double size = std::abs(value);
  return size >= 100  ? fmt::format("{:.0f}", value)
         : size >= 10 ? fmt::format("{:.1f}", value)
                      : fmt::format("{:#.3g}", value);
}

std::string time_text(double seconds) {
  if (seconds < 1e-6) return short_number(seconds * 1e9) + " ns";
  if (seconds < 1e-3) return short_number(seconds * 1e6) + " us";
  if (seconds < 1) return short_number(seconds * 1e3) + " ms";
  return short_number(seconds) + " s";
}

std::string ratio_text(double ratio) {
  return !std::isfinite(ratio) ? "-"
         : ratio < 0.1         ? fmt::format("{:.2g}", ratio)
                               : fmt::format("{:.2f}", ratio);
}

std::string spread_text(const Summary& seconds) {
  return seconds.count < 2 ? "-" : fmt::format("{:.1f} %", 100 * seconds.mad / seconds.median);
}

// ---- JSON ---------------------------------------------------------------------------------------

ordered_json number_or_null(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr);
}

std::string run_name(const BenchRow& row) {
  const auto& [M, N, K] = row.on.extents;
  return cat(row.name, "/", row.on.type, "/", M, "x", N, "x", K, "/threads:", row.on.threads);
}

/// What every entry of a row begins with.
ordered_json entry_head(const BenchRow& row, std::size_t family, std::size_t instance) {
  ordered_json out;
  out["name"] = run_name(row);
  out["family_index"] = family;
  out["per_family_instance_index"] = instance;
  out["run_name"] = run_name(row);
  out["run_type"] = "iteration";
  out["repetitions"] = row.samples.size();
  return out;
}

/// What every entry of a row ends with.
void describe_row(ordered_json& entry, const BenchRow& row) {
  entry["contestant"] = row.name;
  entry["kind"] = name_of(row.kind);
  entry["dtype"] = name(row.on.type);
  entry["m"] = row.on.extents.M;
  entry["n"] = row.on.extents.N;
  entry["k"] = row.on.extents.K;
  entry["status"] = to_string(row.status);
  if (!row.message.empty()) entry["remark"] = row.message;
  entry["max_error_ratio"] = number_or_null(row.max_error_ratio);
  entry["bytes"] = row.on.bytes();
  entry["arithmetic_intensity"] = row.on.flops() / row.on.bytes();
}

/// What is counted in each repetition: a name and a value for each sample.
using Counters = std::vector<std::pair<std::string, std::vector<double>>>;

Counters counters_of(const BenchResults& results, const BenchRow& row) {
  const auto by_sample = [&row](const BenchRow& other, double factor) {
    std::vector<double> out(row.samples.size(), kNan);
    for (const auto& [turn, ratio] : speed_ratios(row, other)) {
      for (std::size_t i = 0; i < row.samples.size(); ++i) {
        if (row.samples[i].turn == turn) out[i] = ratio * factor;
      }
    }
    return out;
  };
  Counters out;
  std::vector<double> gflops;
  for (double seconds : seconds_of(row)) gflops.push_back(row.on.flops() / seconds * 1e-9);
  out.emplace_back("gflops", gflops);
  if (row.kind == Kind::peak) return out;
  for (const auto* peak : others(results, row, Kind::peak))
    out.emplace_back("percent_of_peak", by_sample(*peak, 100));
  for (const auto* peer : others(results, row, Kind::peer)) {
    if (peer->name != row.name) out.emplace_back("ratio_" + peer->name, by_sample(*peer, 1));
  }
  return out;
}

/// `pick` takes one number out of a summary.
template <class Pick>
ordered_json aggregate(const BenchResults& results, const BenchRow& row, std::size_t family,
                       std::size_t instance, const std::string& what, const char* unit,
                       Pick&& pick) {
  std::vector<double> real, cpu;
  for (const Sample& sample : row.samples) {
    real.push_back(sample.seconds * 1e9);
    cpu.push_back(sample.cpu_seconds * 1e9);
  }
  ordered_json out = entry_head(row, family, instance);
  out["name"] = run_name(row) + "_" + what;
  out["run_type"] = "aggregate";
  out["threads"] = row.on.threads;
  out["aggregate_name"] = what;
  out["aggregate_unit"] = unit;
  out["iterations"] = row.samples.size();
  out["real_time"] = pick(summarize(real));
  out["cpu_time"] = pick(summarize(cpu));
  out["time_unit"] = "ns";
  for (const auto& [counter, values] : counters_of(results, row)) {
    std::vector<double> known = values;
    std::erase_if(known, [](double value) { return std::isnan(value); });
    out[counter] = number_or_null(pick(summarize(known)));
  }
  describe_row(out, row);
  return out;
}

void append_entries(ordered_json& list, const BenchResults& results, const BenchRow& row,
                    std::size_t family, std::size_t instance) {
  if (!measured(row)) {
    ordered_json entry = entry_head(row, family, instance);
    entry["repetition_index"] = 0;
    entry["threads"] = row.on.threads;
    entry["error_occurred"] = true;
    entry["error_message"] = cat(to_string(row.status), ": ", row.message);
    entry["iterations"] = 0;
    entry["real_time"] = 0.0;
    entry["cpu_time"] = 0.0;
    entry["time_unit"] = "ns";
    describe_row(entry, row);
    list.push_back(std::move(entry));
    return;
  }
  const Counters counters = counters_of(results, row);
  for (std::size_t i = 0; i < row.samples.size(); ++i) {
    const Sample& sample = row.samples[i];
    ordered_json entry = entry_head(row, family, instance);
    entry["repetition_index"] = i;
    entry["threads"] = row.on.threads;
    entry["iterations"] = sample.iterations;
    entry["real_time"] = sample.seconds * 1e9;
    entry["cpu_time"] = sample.cpu_seconds * 1e9;
    entry["time_unit"] = "ns";
    for (const auto& [counter, values] : counters) entry[counter] = number_or_null(values[i]);
    entry["turn"] = sample.turn;
    describe_row(entry, row);
    list.push_back(std::move(entry));
  }
  const auto add = [&](const char* what, const char* unit, double Summary::*member) {
    list.push_back(aggregate(results, row, family, instance, what, unit,
                             [member](const Summary& summary) { return summary.*member; }));
  };
  add("mean", "time", &Summary::mean);
  add("median", "time", &Summary::median);
  add("stddev", "time", &Summary::stddev);
  add("cv", "percentage", &Summary::cv);
  add("mad", "time", &Summary::mad);
  add("min", "time", &Summary::min);
}

/// One field of an entry read back; `source` and `at` say where it is missing.
template <class T>
T field(const ordered_json& entry, const char* key, const std::string& where) {
  try {
    return entry.at(key).get<T>();
  } catch (const nlohmann::json::exception&) {
    throw Error(Category::file, cat(where, " has no usable '", key, "'"),
                "a file that 'tessera bench --json' wrote");
  }
}

template <class Names>
std::size_t index_of(const Names& names, const std::string& text, const std::string& where) {
  const auto at = std::find(names.begin(), names.end(), text);
  if (at == names.end())
    throw Error(Category::file, cat(where, " says '", text, "'"),
                cat("one of ", names[0], ", ..., ", names.back()));
  return static_cast<std::size_t>(at - names.begin());
}

BenchRow row_of_entry(const ordered_json& entry, const std::string& where) {
  BenchRow row;
  row.name = field<std::string>(entry, "contestant", where);
  row.kind =
      static_cast<Kind>(index_of(kKindNames, field<std::string>(entry, "kind", where), where));
  row.status = static_cast<RowStatus>(
      index_of(kStatusNames, field<std::string>(entry, "status", where), where));
  try {
    row.on.type = parse_dtype(field<std::string>(entry, "dtype", where));
  } catch (const Error& error) {
    throw Error(Category::file, cat(where, ": ", error.what()));
  }
  row.on.extents = {field<index_t>(entry, "m", where), field<index_t>(entry, "n", where),
                    field<index_t>(entry, "k", where)};
  row.on.threads = field<int>(entry, "threads", where);
  const auto& [M, N, K] = row.on.extents;
  if (M < 1 || N < 1 || K < 1 || row.on.threads < 1)
    throw Error(Category::file, cat(where, " has an extent or number of threads below 1"));
  if (entry.contains("remark")) row.message = field<std::string>(entry, "remark", where);
  const auto ratio = entry.find("max_error_ratio");
  row.max_error_ratio = ratio != entry.end() && ratio->is_number() ? ratio->get<double>() : kNan;
  return row;
}

Sample sample_of_entry(const ordered_json& entry, const std::string& where) {
  Sample out;
  out.turn = field<int>(entry, "turn", where);
  out.iterations = field<index_t>(entry, "iterations", where);
  out.seconds = field<double>(entry, "real_time", where) * 1e-9;
  out.cpu_seconds = field<double>(entry, "cpu_time", where) * 1e-9;
  if (field<std::string>(entry, "time_unit", where) != "ns")
    throw Error(Category::file, cat(where, " has times in another unit"), "ns");
  if (!(out.seconds > 0) || !std::isfinite(out.seconds))
    throw Error(Category::file, cat(where, " has no positive real_time"));
  return out;
}

// ---- CSV and Markdown ---------------------------------------------------------------------------

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string csv_number(double value) {
  return std::isfinite(value) ? fmt::format("{:.9g}", value) : "";
}

std::vector<std::string> peer_names(const std::vector<BenchRow>& rows) {
  std::vector<std::string> out;
  for (const auto& row : rows) {
    if (row.kind == Kind::peer && std::find(out.begin(), out.end(), row.name) == out.end())
      out.push_back(row.name);
  }
  return out;
}

double ratio_to(const Figures& found, const std::string& peer) {
  for (const auto& [name, ratio] : found.ratios) {
    if (name == peer) return ratio;
  }
  return kNan;
}

std::string markdown_line(const std::vector<std::string>& cells) {
  std::string out = "|";
  for (const auto& cell : cells) {
    out += ' ';
    for (char c : cell) out += c == '|' ? std::string("\\|") : std::string(1, c == '\n' ? ' ' : c);
    out += " |";
  }
  return out + "\n";
}

std::string markdown_head(const std::vector<std::string>& cells) {
  std::string out = markdown_line(cells) + "|---|";
  for (std::size_t i = 1; i < cells.size(); ++i) out += "--:|";
  return out + "\n";
}

const BenchRow* row_at(const std::vector<BenchRow>& rows, const BenchRow& contestant,
                       const Extents& extents) {
  for (const auto& row : rows) {
    if (same_contestant(row, contestant) && row.on.extents == extents) return &row;
  }
  return nullptr;
}

std::string shown_name(const BenchRow& row) {
  return row.kind == Kind::peak ? "measured peak" : row.name;
}

/// Contestants down, sizes across: GFLOP/s and the share of the peak.
std::string speed_table(const BenchResults& results, const std::vector<BenchRow>& group,
                        const std::vector<const BenchRow*>& cases) {
  std::vector<std::string> head = {"GFLOP/s (share of peak)"};
  for (const auto* each : cases) head.push_back(to_string(each->on.extents));
  std::string out = markdown_head(head);
  for (const auto* contestant : distinct(group, same_contestant)) {
    std::vector<std::string> cells = {shown_name(*contestant)};
    for (const auto* each : cases) {
      const BenchRow* row = row_at(group, *contestant, each->on.extents);
      if (row == nullptr) cells.emplace_back("");
      else if (!measured(*row)) cells.push_back(to_string(row->status));
      else {
        const Figures found = figures(results, *row);
        cells.push_back(short_number(found.gflops));
        if (row->kind != Kind::peak)
          cells.back() += cat(" (", short_number(found.percent_of_peak.median), " %)");
      }
    }
    out += markdown_line(cells);
  }
  return out;
}

/// The fastest algorithm of each size and its speed as a multiple of each peer's.
std::string best_table(const BenchResults& results, const std::vector<BenchRow>& group,
                       const std::vector<const BenchRow*>& cases) {
  std::vector<std::string> head = {"fastest algorithm: times the speed of"},
                           best_names = {"(algorithm)"};
  std::vector<Figures> best;
  for (const auto* each : cases) {
    head.push_back(to_string(each->on.extents));
    best.emplace_back();
    best_names.emplace_back("-");
    for (const auto* row : others(results, *each, Kind::algorithm)) {
      const Figures found = figures(results, *row);
      if (!(found.gflops > best.back().gflops)) continue;
      best.back() = found;
      best_names.back() = row->name;
    }
  }
  std::string out = markdown_head(head) + markdown_line(best_names);
  for (const auto& peer : peer_names(group)) {
    std::vector<std::string> cells = {peer};
    for (const auto& found : best) cells.push_back(ratio_text(ratio_to(found, peer)));
    out += markdown_line(cells);
  }
  return out;
}

/// One size: all figures of each contestant.
std::string detail_table(const BenchResults& results, const std::vector<BenchRow>& group) {
  std::vector<std::string> head = {"contestant", "time", "spread", "GFLOP/s", "share of peak"};
  const auto peers = peer_names(group);
  for (const auto& peer : peers) head.push_back("x " + peer);
  head.emplace_back("error / bound");
  std::string out = markdown_head(head);
  for (const auto& row : group) {
    std::vector<std::string> cells = {shown_name(row)};
    if (!measured(row)) {
      cells.push_back(to_string(row.status));
      cells.resize(head.size());
    } else {
      const Figures found = figures(results, row);
      const bool peak = row.kind == Kind::peak;
      cells.insert(cells.end(), {time_text(found.seconds.median), spread_text(found.seconds),
                                 short_number(found.gflops),
                                 peak ? "" : short_number(found.percent_of_peak.median) + " %"});
      for (const auto& peer : peers)
        cells.push_back(peak || peer == row.name ? "" : ratio_text(ratio_to(found, peer)));
      cells.push_back(peak ? "" : short_number(row.max_error_ratio));
    }
    out += markdown_line(cells);
  }
  return out;
}

std::string context_text(const BenchResults& results, const char* key) {
  const auto at = results.context.find(key);
  return at != results.context.end() && at->is_string() ? at->get<std::string>() : "";
}

/// "AMD EPYC, 2 processors; GCC 12.2.0, release; 2026-11-21": what a caption needs.
std::string machine_line(const BenchResults& results) {
  std::string out;
  const auto add = [&out](const std::string& text, const char* before) {
    if (!text.empty()) out += (out.empty() ? "" : before) + text;
  };
  add(context_text(results, "cpu_model"), "");
  if (const auto cpus = results.context.find("num_cpus");
      cpus != results.context.end() && cpus->is_number_integer())
    add(cat(cpus->get<int>(), " processors"), ", ");
  add(context_text(results, "compiler"), "; ");
  add(context_text(results, "library_build_type"), ", ");
  if (const std::string commit = context_text(results, "commit"); !commit.empty())
    add("commit " + commit, "; ");
  add(context_text(results, "date").substr(0, 10), "; ");
  const auto load = results.context.find("load_avg");
  if (load != results.context.end() && load->is_array() && !load->empty() &&
      load->front().is_number())
    add(fmt::format("load average {:.1f} at the start", load->front().get<double>()), "; ");
  return out;
}

std::string peer_lines(const BenchResults& results) {
  std::string out;
  const auto peers = results.context.find("peers");
  if (peers == results.context.end() || !peers->is_array()) return out;
  for (const auto& peer : *peers) {
    const auto text = [&peer](const char* key) {
      const auto at = peer.is_object() ? peer.find(key) : peer.end();
      return peer.is_object() && at != peer.end() && at->is_string() ? at->get<std::string>() : "";
    };
    out += cat("- ", text("name"), ": ", text("version"));
    for (const char* key : {"settings", "environment"}) {
      if (const std::string value = text(key); !value.empty()) out += ", " + value;
    }
    out += "\n";
  }
  return out;
}

// ---- plots --------------------------------------------------------------------------------------

PlotRole role_of(Kind kind) {
  return kind == Kind::algorithm ? PlotRole::step
         : kind == Kind::peer    ? PlotRole::peer
                                 : PlotRole::limit;
}

double side_of(const Extents& extents) {
  if (extents.M == extents.N && extents.N == extents.K) return static_cast<double>(extents.M);
  return std::cbrt(static_cast<double>(extents.M) * static_cast<double>(extents.N) *
                   static_cast<double>(extents.K));
}

LinePlot line_plot(const BenchResults& results, const std::vector<BenchRow>& group) {
  LinePlot out;
  out.title = "Speed over size: " + group_title(group.front());
  out.y_label = "GFLOP/s, median and quartiles";
  const bool cubes = std::all_of(group.begin(), group.end(), [](const BenchRow& row) {
    return row.on.extents.M == row.on.extents.N && row.on.extents.N == row.on.extents.K;
  });
  out.x_label = cubes ? "M = N = K" : "side of the cube with as many products, (M N K)^(1/3)";
  for (const auto* contestant : distinct(group, same_contestant)) {
    PlotSeries series{shown_name(*contestant), role_of(contestant->kind), {}};
    for (const auto& row : group) {
      if (!same_contestant(row, *contestant) || !measured(row)) continue;
      const Figures found = figures(results, row);
      const double work = row.on.flops() * 1e-9;
      series.points.push_back({side_of(row.on.extents), found.gflops, work / found.seconds.q3,
                               work / found.seconds.q1});
    }
    std::sort(series.points.begin(), series.points.end(),
              [](const PlotPoint& a, const PlotPoint& b) { return a.x < b.x; });
    if (!series.points.empty()) out.series.push_back(std::move(series));
  }
  return out;
}

BarPlot ladder_plot(const BenchResults& results, const std::vector<BenchRow>& group) {
  BarPlot out;
  out.title =
      cat("The ladder at ", to_string(group.front().on.extents), ": ", group_title(group.front()));
  out.x_label = "% of the measured multiply-add peak";
  out.limit_name = "peak";
  for (const auto& row : group) {
    if (!measured(row) || row.kind == Kind::peak) continue;
    const Figures found = figures(results, row);
    const Summary& percent = found.percent_of_peak;
    if (!std::isfinite(percent.median)) continue;
    out.bars.push_back(
        {row.name,
         cat(short_number(percent.median), " %, ", short_number(found.gflops), " GFLOP/s"),
         role_of(row.kind), percent.median, percent.q1, percent.q3});
  }
  return out;
}

}  // namespace

std::string to_string(RowStatus status) {
  return std::string(kStatusNames[static_cast<std::size_t>(status)]);
}

bool same_case(const BenchRow& a, const BenchRow& b) {
  return same_group(a, b) && a.on.extents == b.on.extents;
}

Figures figures(const BenchResults& results, const BenchRow& row) {
  Figures out;
  out.percent_of_peak = summarize({});
  out.seconds = summarize(seconds_of(row));
  if (!measured(row)) return out;
  out.gflops = row.on.flops() / out.seconds.median * 1e-9;
  if (row.kind == Kind::peak) return out;
  for (const auto* peak : others(results, row, Kind::peak))
    out.percent_of_peak = ratio_summary(row, *peak, 100);
  for (const auto* peer : others(results, row, Kind::peer)) {
    if (peer->name != row.name)
      out.ratios.emplace_back(peer->name, ratio_summary(row, *peer, 1).median);
  }
  return out;
}

std::string to_json(const BenchResults& results) {
  ordered_json out;
  out["context"] = results.context;
  out["benchmarks"] = ordered_json::array();
  const auto families = distinct(results.rows, same_contestant);
  std::map<std::size_t, std::size_t> instances;
  for (const auto& row : results.rows) {
    const auto at = std::find_if(families.begin(), families.end(),
                                 [&](const auto* each) { return same_contestant(*each, row); });
    const auto family = static_cast<std::size_t>(at - families.begin());
    append_entries(out["benchmarks"], results, row, family, instances[family]++);
  }
  // Foreign text (host names, environment) need not be UTF-8.
  return out.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

BenchResults parse_bench_json(const std::string& text, const std::string& source) {
  ordered_json document;
  try {
    document = ordered_json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    throw Error(Category::file, cat("'", source, "' is not JSON"), {}, error.what());
  }
  if (!document.is_object() || !document.contains("context") || !document.contains("benchmarks") ||
      !document["context"].is_object() || !document["benchmarks"].is_array())
    throw Error(Category::file, cat("'", source, "' holds no benchmark results"),
                "an object with context and benchmarks");
  BenchResults out;
  out.context = document["context"];
  std::size_t number = 0;
  for (const auto& entry : document["benchmarks"]) {
    const std::string where = cat("'", source, "': entry ", number++);
    if (field<std::string>(entry, "run_type", where) != "iteration") continue;
    BenchRow row = row_of_entry(entry, where);
    const bool continues = !out.rows.empty() && same_case(out.rows.back(), row) &&
                           same_contestant(out.rows.back(), row);
    if (!continues) out.rows.push_back(std::move(row));
    if (out.rows.back().status == RowStatus::verified)
      out.rows.back().samples.push_back(sample_of_entry(entry, where));
  }
  return out;
}

std::string to_csv(const BenchResults& results) {
  const auto peers = peer_names(results.rows);
  std::string out =
      "name,kind,dtype,m,n,k,threads,status,max_error_ratio,repetitions,iterations,"
      "seconds_median,seconds_mad,seconds_min,seconds_mean,gflops,percent_of_peak,bytes,"
      "arithmetic_intensity";
  for (const auto& peer : peers) out += cat(",ratio_", quoted(peer));
  out += ",remark\n";
  for (const auto& row : results.rows) {
    const Figures found = figures(results, row);
    const bool good = measured(row);
    index_t iterations = 0;
    for (const Sample& sample : row.samples) iterations += sample.iterations;
    out += fmt::format("{},{},{},{},{},{},{},{},{}", quoted(row.name), name_of(row.kind),
                       name(row.on.type), row.on.extents.M, row.on.extents.N, row.on.extents.K,
                       row.on.threads, to_string(row.status), csv_number(row.max_error_ratio));
    out +=
        fmt::format(",{},{},{},{},{},{},{},{},{:.17g},{:.9g}", row.samples.size(), iterations,
                    csv_number(found.seconds.median), csv_number(found.seconds.mad),
                    csv_number(found.seconds.min), csv_number(found.seconds.mean),
                    good ? csv_number(found.gflops) : "", csv_number(found.percent_of_peak.median),
                    row.on.bytes(), row.on.flops() / row.on.bytes());
    for (const auto& peer : peers) out += cat(",", csv_number(ratio_to(found, peer)));
    out += cat(",", quoted(row.message), "\n");
  }
  return out;
}

std::string to_markdown(const BenchResults& results) {
  std::string out;
  for (const auto* first : distinct(results.rows, same_group)) {
    const auto group = group_of(results, *first);
    const auto cases = distinct(group, same_case);
    out += cat("### ", group_title(*first));
    if (cases.size() == 1) {
      out += cat(", ", to_string(first->on.extents), "\n\n", detail_table(results, group), "\n");
    } else {
      out += "\n\n" + speed_table(results, group, cases) + "\n";
      if (!peer_names(group).empty()) out += best_table(results, group, cases) + "\n";
    }
  }
  out += "Machine: " + machine_line(results) + ".\n";
  if (const std::string method = context_text(results, "method"); !method.empty())
    out += "\nMethod: " + method + "\n";
  if (const std::string peers = peer_lines(results); !peers.empty()) out += "\nPeers:\n\n" + peers;
  return out;
}

std::string to_svg(const BenchResults& results) {
  const auto cases = distinct(results.rows, [](const BenchRow& a, const BenchRow& b) {
    return a.on.extents == b.on.extents;
  });
  std::vector<LinePlot> lines;
  std::vector<BarPlot> bars;
  for (const auto* first : distinct(results.rows, same_group)) {
    const auto group = group_of(results, *first);
    if (cases.size() == 1) bars.push_back(ladder_plot(results, group));
    else lines.push_back(line_plot(results, group));
  }
  return cases.size() == 1 ? svg_of(bars, machine_line(results))
                           : svg_of(lines, machine_line(results));
}

CaseTable case_table(const BenchResults& results, const BenchRow& of) {
  std::vector<BenchRow> rows;
  for (const auto& row : results.rows) {
    if (same_case(row, of)) rows.push_back(row);
  }
  const auto peers = peer_names(rows);
  std::vector<Table::Column> columns = {{"", Align::left},
                                        {"time", Align::right},
                                        {"spread", Align::right},
                                        {"GFLOP/s", Align::right},
                                        {"% of peak", Align::right}};
  for (const auto& peer : peers) columns.push_back({"x " + peer, Align::right});
  columns.push_back({"error/bound", Align::right});
  columns.push_back({"remark", Align::left});
  Table table(columns);
  for (const auto& row : rows) {
    std::vector<std::string> cells(columns.size());
    cells[0] = shown_name(row);
    cells.back() = row.message;
    if (!measured(row)) cells.back() = cat(to_string(row.status), ": ", row.message);
    else {
      const Figures found = figures(results, row);
      cells[1] = time_text(found.seconds.median);
      cells[2] = spread_text(found.seconds);
      cells[3] = short_number(found.gflops);
      if (row.kind != Kind::peak) {
        cells[4] = short_number(found.percent_of_peak.median);
        for (std::size_t i = 0; i < peers.size(); ++i) {
          if (peers[i] != row.name) cells[5 + i] = ratio_text(ratio_to(found, peers[i]));
        }
        cells[5 + peers.size()] = short_number(row.max_error_ratio);
      }
    }
    table.add(cells);
  }
  const auto& [M, N, K] = of.on.extents;
  return {cat(group_title(of), ", ", M, "x", N, "x", K), table.text()};
}

}  // namespace tessera::cli
