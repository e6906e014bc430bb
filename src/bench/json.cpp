// A benchmark's results as JSON and back: see report.hpp.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <span>

#include "report.hpp"
#include "shell/json_text.hpp"
#include "tessera/core/error.hpp"

namespace tessera::bench {

namespace {

using nlohmann::ordered_json;
using Kind = Contestant::Kind;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double gflops_of(const BenchRow& row, double seconds) { return row.on.flops() / seconds * 1e-9; }

/// The seconds that print as this number of nanoseconds, so that a file that is read is written
/// unchanged. If several do, those that give the adjacent speed; if none does, the quotient.
double seconds_written_as(double nanoseconds, const BenchRow& row, double gflops) {
  double first = kNan, near = nanoseconds / 1e9;
  for (double each : {near, std::nextafter(near, 0.0), std::nextafter(near, HUGE_VAL)}) {
    if (each * 1e9 != nanoseconds) continue;
    if (std::isnan(gflops) || gflops_of(row, each) == gflops) return each;
    if (std::isnan(first)) first = each;
  }
  return std::isnan(first) ? near : first;
}

/// The time as a file stores it. All times that print alike are read back as one, so that every
/// figure computed from them is also the same.
BenchResults as_read_back(BenchResults results) {
  for (BenchRow& row : results.rows) {
    for (Sample& sample : row.samples) {
      sample.seconds =
          seconds_written_as(sample.seconds * 1e9, row, gflops_of(row, sample.seconds));
      sample.cpu_seconds = seconds_written_as(sample.cpu_seconds * 1e9, row, kNan);
    }
  }
  return results;
}

std::string run_name(const BenchRow& row) {
  const Readiness& readiness = row.on.readiness;
  const std::string state = readiness.first_call ? "/first_call"
                            : readiness.steady() ? ""
                                                 : cat("/idle:", readiness.idle_seconds);
  return cat(row.name, "/", to_string(row.on.types), "/", full_text(row.on.shape), state,
             row.on.device.empty() ? "" : cat("/", row.on.device), "/threads:", row.on.threads);
}

/// The first fields of every entry of a row.
ordered_json entry_head(const BenchRow& row, std::size_t family, std::size_t instance) {
  ordered_json out = shell::json_object();
  out["name"] = run_name(row);
  out["family_index"] = family;
  out["per_family_instance_index"] = instance;
  out["run_name"] = run_name(row);
  out["run_type"] = "iteration";
  out["repetitions"] = row.samples.size();
  return out;
}

/// The last fields of every entry of a row.
void describe_row(ordered_json& entry, const BenchResults& results, const BenchRow& row) {
  entry["contestant"] = row.name;
  entry["kind"] = name_of(row.kind);
  entry["dtype"] = to_string(row.on.types);
  entry["m"] = row.on.shape.M;
  entry["n"] = row.on.shape.N;
  entry["k"] = row.on.shape.K;
  entry["batch"] = row.on.shape.batch;
  entry["transposition"] = transposition_text(row.on.shape);
  if (row.on.shape.updates) entry["update"] = true;
  entry["idle_seconds"] = row.on.readiness.idle_seconds;
  entry["first_call"] = row.on.readiness.first_call;
  if (!row.on.device.empty()) entry["device"] = row.on.device;
  if (!row.units.empty()) entry["units"] = row.units;
  entry["status"] = to_string(row.status);
  if (!row.message.empty()) entry["remark"] = row.message;
  if (peak_disturbed(results, row)) entry["peak_disturbed"] = true;
  entry["max_error_ratio"] = shell::number_or_null(row.max_error_ratio);
  entry["bytes"] = row.on.bytes();
  entry["arithmetic_intensity"] = row.on.flops() / row.on.bytes();
}

/// A counter of each repetition: a name and a value for each sample.
using DeviceCounters = std::vector<std::pair<std::string, std::vector<double>>>;

DeviceCounters counters_of(const BenchResults& results, const BenchRow& row) {
  const auto by_sample = [&row](const std::vector<std::pair<int, double>>& by_round,
                                double factor) {
    std::vector<double> out(row.samples.size(), kNan);
    for (const auto& [round, ratio] : by_round) {
      for (std::size_t i = 0; i < row.samples.size(); ++i) {
        if (row.samples[i].round == round) out[i] = ratio * factor;
      }
    }
    return out;
  };
  DeviceCounters out;
  std::vector<double> gflops;
  for (double seconds : row.seconds()) gflops.push_back(gflops_of(row, seconds));
  out.emplace_back("gflops", gflops);
  if (row.samples.front().device.clock_hz > 0) {
    std::vector<double> clocks, watts;
    for (const Sample& sample : row.samples) {
      clocks.push_back(sample.device.clock_hz / 1e6);
      watts.push_back(sample.device.watts);
    }
    out.emplace_back("sm_clock_mhz", clocks);
    out.emplace_back("power_watts", watts);
  }
  if (row.kind == Kind::peak) return out;
  if (!others(results, row, Kind::peak).empty())
    out.emplace_back("percent_of_peak", by_sample(peak_shares(results, row), 100));
  for (const auto* peer : others(results, row, Kind::peer)) {
    if (peer->name != row.name)
      out.emplace_back("ratio_" + peer->name, by_sample(speed_ratios(row, *peer), 1));
  }
  return out;
}

/// Everything that limited the clock in one of the samples.
void add_throttle_reasons(ordered_json& entry, std::span<const Sample> samples) {
  std::uint64_t all = 0;
  for (const Sample& sample : samples) all |= sample.device.throttle_reasons;
  if (samples.front().device.clock_hz > 0) entry["throttle_reasons"] = all;
}

/// `pick` selects one number of a summary.
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
    out[counter] = shell::number_or_null(pick(summarize(known)));
  }
  add_throttle_reasons(out, row.samples);
  describe_row(out, results, row);
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
    describe_row(entry, results, row);
    list.push_back(std::move(entry));
    return;
  }
  const DeviceCounters counters = counters_of(results, row);
  for (std::size_t i = 0; i < row.samples.size(); ++i) {
    const Sample& sample = row.samples[i];
    ordered_json entry = entry_head(row, family, instance);
    entry["repetition_index"] = i;
    entry["threads"] = row.on.threads;
    entry["iterations"] = sample.iterations;
    entry["real_time"] = sample.seconds * 1e9;
    entry["cpu_time"] = sample.cpu_seconds * 1e9;
    entry["time_unit"] = "ns";
    for (const auto& [counter, values] : counters)
      entry[counter] = shell::number_or_null(values[i]);
    add_throttle_reasons(entry, {&sample, 1});
    entry["turn"] = sample.round;
    describe_row(entry, results, row);
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

/// One field of an entry read back; `source` and `at` locate it in an error.
template <class T>
T field(const ordered_json& entry, const char* key, const std::string& where) {
  try {
    return entry.at(key).get<T>();
  } catch (const nlohmann::json::exception&) {
    throw Error(Category::file, cat(where, " has no usable '", key, "'"),
                "a file that 'tessera bench --json' wrote");
  }
}

/// The same for a field that files of earlier versions lack.
template <class T>
T field_or(const ordered_json& entry, const char* key, T missing, const std::string& where) {
  return entry.contains(key) ? field<T>(entry, key, where) : missing;
}

template <class Names>
std::size_t index_of(const Names& names, const std::string& text, const std::string& where) {
  const auto at = std::find(names.begin(), names.end(), text);
  if (at == names.end())
    throw Error(Category::file, cat(where, " says '", text, "'"),
                cat("one of ", names[0], ", ..., ", names.back()));
  return static_cast<std::size_t>(at - names.begin());
}

Shape shape_of_entry(const ordered_json& entry, const std::string& where) {
  Shape out{field<index_t>(entry, "m", where), field<index_t>(entry, "n", where),
            field<index_t>(entry, "k", where), field_or(entry, "batch", index_t{1}, where)};
  if (out.M < 1 || out.N < 1 || out.K < 1 || out.batch < 1)
    throw Error(Category::file, cat(where, " has an extent below 1"));
  constexpr std::array<std::string_view, 4> names = {"NN", "NT", "TN", "TT"};
  const std::size_t which =
      index_of(names, field_or<std::string>(entry, "transposition", "NN", where), where);
  out.a_transposed = which >= 2;
  out.b_transposed = which % 2 == 1;
  out.updates = field_or(entry, "update", false, where);
  return out;
}

BenchRow row_of_entry(const ordered_json& entry, const std::string& where) {
  BenchRow row;
  row.name = field<std::string>(entry, "contestant", where);
  row.kind =
      static_cast<Kind>(index_of(kKindNames, field<std::string>(entry, "kind", where), where));
  row.status = static_cast<RowStatus>(
      index_of(kRowStatusNames, field<std::string>(entry, "status", where), where));
  try {
    row.on.types = shell::parse_types(field<std::string>(entry, "dtype", where));
  } catch (const Error& error) {
    throw Error(Category::file, cat(where, ": ", error.what()));
  }
  row.on.shape = shape_of_entry(entry, where);
  row.on.threads = field<int>(entry, "threads", where);
  row.on.device = field_or<std::string>(entry, "device", "", where);
  row.units = field_or<std::string>(entry, "units", "", where);
  row.on.readiness = {field_or(entry, "idle_seconds", 0.0, where),
                      field_or(entry, "first_call", false, where)};
  if (row.on.threads < 1 || !(row.on.readiness.idle_seconds >= 0))
    throw Error(Category::file, cat(where, " has fewer than 1 thread or a negative idle time"));
  if (entry.contains("remark")) row.message = field<std::string>(entry, "remark", where);
  const auto ratio = entry.find("max_error_ratio");
  row.max_error_ratio = ratio != entry.end() && ratio->is_number() ? ratio->get<double>() : kNan;
  return row;
}

Sample sample_of_entry(const ordered_json& entry, const BenchRow& row, const std::string& where) {
  Sample out;
  out.round = field<int>(entry, "turn", where);
  out.iterations = field<index_t>(entry, "iterations", where);
  const auto gflops = entry.find("gflops");
  const bool known = gflops != entry.end() && gflops->is_number();
  out.seconds = seconds_written_as(field<double>(entry, "real_time", where), row,
                                   known ? gflops->get<double>() : kNan);
  out.cpu_seconds = seconds_written_as(field<double>(entry, "cpu_time", where), row, kNan);
  out.device = {field_or(entry, "sm_clock_mhz", 0.0, where) * 1e6,
                field_or(entry, "power_watts", 0.0, where),
                field_or(entry, "throttle_reasons", std::uint64_t{0}, where)};
  if (field<std::string>(entry, "time_unit", where) != "ns")
    throw Error(Category::file, cat(where, " has times in an unknown unit"), "ns");
  if (!(out.seconds > 0) || !std::isfinite(out.seconds))
    throw Error(Category::file, cat(where, " has no positive real_time"));
  return out;
}

}  // namespace

std::string to_json(const BenchResults& measured) {
  const BenchResults results = as_read_back(measured);
  ordered_json out = shell::json_object();
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
  return shell::json_text(out, 1);
}

BenchResults parse_bench_json(const std::string& text, const std::string& source) {
  ordered_json document;
  try {
    document = ordered_json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    std::string why =
        error.what();  // "[json.exception.parse_error.101] parse error at line 1, ..."
    why.erase(0, why.find("] ") + 2);
    throw Error(Category::file, cat("'", source, "' is not JSON"), {}, why);
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
      out.rows.back().samples.push_back(sample_of_entry(entry, out.rows.back(), where));
  }
  return out;
}

}  // namespace tessera::bench
