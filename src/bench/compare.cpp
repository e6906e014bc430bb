// Computes verdicts and prints them: see compare.hpp.
#include "compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shell/json_text.hpp"
#include "shell/suggest.hpp"
#include "shell/table.hpp"
#include "shell/wrap.hpp"
#include "tessera/core/text.hpp"

namespace tessera::bench {

namespace {

using nlohmann::ordered_json;
using Kind = Contestant::Kind;

constexpr double kConfidence = 0.95;
/// Samples needed in each file. Four also give an interval, but one disturbance easily widens it.
constexpr std::size_t kFewestSamples = 5;
/// The most that is advised: beyond it, differences between processes dominate.
constexpr double kMostRepetitions = 500;

const BenchRow* find_row(const BenchResults& results, const BenchRow& like) {
  for (const auto& row : results.rows) {
    if (same_case(row, like) && same_contestant(row, like)) return &row;
  }
  return nullptr;
}

bool has_peak(const BenchResults& results, const BenchRow& row) {
  return !others(results, row, Kind::peak).empty();
}

/// One speed for each sample: as shares of the peak at that moment, or products a second.
std::vector<double> speeds(const BenchResults& results, const BenchRow& row, bool by_share) {
  std::vector<double> out;
  if (by_share) {
    for (const auto& [round, share] : peak_shares(results, row)) out.push_back(share);
  } else {
    for (double seconds : row.seconds()) out.push_back(1 / seconds);
  }
  return out;
}

Verdict verdict_of(double ratio, const Interval& interval, double threshold) {
  const double most = 1 + threshold, least = 1 / most;
  if (interval.low >= least && interval.high <= most) return Verdict::same;
  if (interval.low > 1 && ratio > most) return Verdict::faster;
  if (interval.high < 1 && ratio < least) return Verdict::slower;
  return Verdict::unclear;
}

/// Repetitions whose interval, which narrows with the square root of their number, would decide:
/// all of it within the threshold, or all of it beyond 1.
std::string enough_repetitions(double ratio, const Interval& interval, double threshold,
                               std::size_t samples) {
  const double most = std::log1p(threshold), at = std::abs(std::log(ratio));
  const double width = std::max(std::log(interval.high / ratio), std::log(ratio / interval.low));
  const double times = width / (at > most ? at : most - at);
  const double needed = std::ceil(static_cast<double>(samples) * times * times);
  if (!(needed <= kMostRepetitions)) return "no number of repetitions would decide";
  return fmt::format("about {:.0f} repetitions would decide",
                     std::max(needed, static_cast<double>(samples + 1)));
}

/// Why enough samples still do not decide.
std::string why_unclear(double ratio, const Interval& interval, double threshold,
                        std::size_t samples) {
  const double most = 1 + threshold;
  const bool beyond = ratio > most || ratio < 1 / most;
  const char* const why = interval.low > 1 || interval.high < 1
                              ? "the change is close to the threshold"
                          : beyond ? "the samples scatter as much as the change"
                                   : "the interval exceeds the threshold";
  return cat(why, "; ", enough_repetitions(ratio, interval, threshold, samples));
}

/// The median speed as a multiple of the peak measured beside it, even if that was disturbed.
double raw_share(const BenchResults& results, const BenchRow& row) {
  std::vector<double> out;
  for (const auto& [round, share] : speed_ratios(row, *others(results, row, Kind::peak).front()))
    out.push_back(share);
  return median(out);
}

/// The peaks of two files differ only by the clock, unless all samples of one were disturbed alike:
/// two threads at the speed of one, for example.
constexpr double kMostPeakChange = 1.6;
bool peaks_differ(const BenchResults& before, const BenchRow& old, const BenchResults& after,
                  const BenchRow& now) {
  const auto seconds = [](const BenchResults& results, const BenchRow& row) {
    return median(others(results, row, Kind::peak).front()->seconds());
  };
  const double change = seconds(before, old) / seconds(after, now);
  return !(change <= kMostPeakChange && change >= 1 / kMostPeakChange);
}

/// A change counts only if the other measure also changes in that direction by more than `least`.
Verdict confirmed(Verdict found, double other_ratio, double least) {
  const bool open = (found == Verdict::faster && !(other_ratio > least)) ||
                    (found == Verdict::slower && !(other_ratio < 1 / least));
  return open ? Verdict::unclear : found;
}

/// A file compared with itself or its copy: nothing can differ, however few its samples.
bool is_one_measurement(const BenchResults& before, const BenchRow& old, const BenchResults& after,
                        const BenchRow& now) {
  const std::string date = context_text(before, "date");
  return !date.empty() && date == context_text(after, "date") && old.seconds() == now.seconds();
}

RowComparison compare_rows(const BenchResults& before, const BenchRow& old,
                           const BenchResults& after, const BenchRow& now, double threshold) {
  const bool peaks = has_peak(before, old) && has_peak(after, now);
  const bool disturbed = peaks && (peak_disturbed(before, old) || peak_disturbed(after, now) ||
                                   peaks_differ(before, old, after, now));
  const bool by_share = peaks && !disturbed;
  RowComparison out{&old, &now, by_share, 0, {}, Verdict::unclear, disturbed, 0, 0, 0, 0, {}};
  const auto was = speeds(before, old, by_share), is = speeds(after, now, by_share);
  out.ratio = median(is) / median(was);
  out.interval = ratio_interval(was, is, kConfidence);
  if (by_share) out.old_percent = 100 * median(was), out.new_percent = 100 * median(is);
  out.old_samples = was.size(), out.new_samples = is.size();
  if (is_one_measurement(before, old, after, now)) {
    out.interval = {1, 1};
    out.verdict = Verdict::same;
    return out;
  }
  if (std::min(was.size(), is.size()) < kFewestSamples) {
    out.why = cat("fewer than ", kFewestSamples, " samples: measure with --repetitions ",
                  kDefaultRepetitions);
    return out;
  }
  out.verdict = verdict_of(out.ratio, out.interval, threshold);
  if (out.verdict == Verdict::unclear)
    out.why = why_unclear(out.ratio, out.interval, threshold, std::min(was.size(), is.size()));
  if (!peaks) return out;
  // A change of the time may come from the clock, a change of the share from the peak. If the peak
  // was disturbed, it must show the change clearly; the clock must not hide it.
  const double other = disturbed ? raw_share(after, now) / raw_share(before, old)
                                 : median(old.seconds()) / median(now.seconds());
  const Verdict alone = out.verdict;
  out.verdict = confirmed(alone, other, disturbed ? 1 + threshold : 1);
  if (out.verdict != alone)
    out.why = disturbed ? "the disturbed peak contradicts" : "the time contradicts";
  return out;
}

std::string name_of_row(const BenchRow& row) {
  return cat(printable(row.name), ", ", group_text(row.on), ", ", to_string(row.on.shape));
}

/// "114 (84.2 %)"; without the share if shares are not compared.
std::string speed_text(const BenchRow& row, const RowComparison& in, double percent) {
  const std::string gflops = short_number(row.on.flops() / median(row.seconds()) * 1e-9);
  return in.by_share ? cat(gflops, " (", short_number(percent), " %)") : gflops;
}

std::string interval_text(const Interval& interval) {
  if (std::isnan(interval.low)) return "-";
  return fmt::format("{:.3f} to {:.3f}", interval.low, interval.high);
}

std::vector<std::string> cells_of(const RowComparison& each) {
  return {name_of_row(*each.before),
          speed_text(*each.before, each, each.old_percent),
          speed_text(*each.after, each, each.new_percent),
          fmt::format("{:.3f}", each.ratio),
          interval_text(each.interval),
          cat(each.old_samples, ", ", each.new_samples),
          each.by_share ? "share of peak" : "time",
          cat(to_string(each.verdict), each.why.empty() ? "" : ": ", each.why)};
}
constexpr std::array kHeads = {"GFLOP/s (share of peak)", "old",     "new", "ratio",
                               "95 % interval",           "samples", "by",  "verdict"};

/// "3 SAME, 1 SLOWER; a ratio above 1 is faster, ..."
std::string summary_of(const ComparedResults& compared) {
  std::string out;
  for (std::size_t i = 0; i < kVerdictNames.size(); ++i) {
    const auto count =
        std::count_if(compared.comparisons.begin(), compared.comparisons.end(),
                      [i](const auto& each) { return each.verdict == static_cast<Verdict>(i); });
    if (count > 0) out += cat(out.empty() ? "" : ", ", count, " ", kVerdictNames[i]);
  }
  return cat(out, fmt::format("; threshold {:g} %", 100 * compared.threshold));
}

/// What else a reader of the table must know, one line each.
std::vector<std::string> notes_of(const ComparedResults& compared) {
  constexpr std::size_t most_names = 2;
  std::vector<std::string> out;
  const auto disturbed =
      std::count_if(compared.comparisons.begin(), compared.comparisons.end(),
                    [](const RowComparison& each) { return each.peak_disturbed; });
  if (disturbed > 0)
    out.push_back(cat("by time because ", kPeakDisturbed, ": ", disturbed,
                      disturbed == 1 ? " row" : " rows",
                      "; there a change counts only if the shares change in the same direction"));
  const auto& rows = compared.left_out;
  if (rows.empty()) return out;
  const std::size_t named = std::min(rows.size(), most_names);
  std::string text = cat("not compared: ", rows.size(), rows.size() == 1 ? " row (" : " rows (");
  for (std::size_t i = 0; i < named; ++i) text += cat(i == 0 ? "" : "; ", rows[i]);
  out.push_back(text + (named < rows.size() ? "; ...)" : ")"));
  return out;
}

ordered_json about(const BenchResults& results) {
  ordered_json out = shell::json_object();
  for (const char* key : {"date", "commit", "compiler", "flags", "cpu_model", "num_cpus"}) {
    if (results.context.contains(key)) out[key] = results.context[key];
  }
  return out;
}

std::string one_line(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

/// "L1 Data 48.00 KiB" for each cache that the file describes. Omits how many CPUs share one, since
/// it follows from the number of CPUs.
std::vector<std::string> caches_of(const BenchResults& results) {
  std::vector<std::string> out;
  const auto caches = results.context.find("caches");
  if (caches == results.context.end() || !caches->is_array()) return out;
  for (const auto& cache : *caches) {
    const auto number = [&cache](const char* key) {
      const auto at = cache.find(key);
      return at != cache.end() && at->is_number_integer() ? at->get<index_t>() : 0;
    };
    if (!cache.is_object()) continue;
    const auto type = cache.find("type");
    out.push_back(cat("L", number("level"), " ",
                      type != cache.end() && type->is_string() ? type->get<std::string>() : "cache",
                      " ", bytes_text(number("size"))));
  }
  return out;
}

/// The elements of `all` that are not in `others`.
std::vector<std::string> without(std::vector<std::string> all,
                                 const std::vector<std::string>& others) {
  std::erase_if(all, [&](const std::string& each) {
    return std::find(others.begin(), others.end(), each) != others.end();
  });
  return all;
}

ordered_json percent_or_null(const RowComparison& each, double percent) {
  return each.by_share ? ordered_json(percent) : ordered_json(nullptr);
}

}  // namespace

std::string to_string(Verdict verdict) {
  return std::string(kVerdictNames[static_cast<std::size_t>(verdict)]);
}

ComparedResults compare_results(const BenchResults& before, const BenchResults& after,
                                double threshold) {
  ComparedResults out{&before, &after, threshold, {}, {}, false};
  const auto leave_out = [&out](const BenchRow& row, const std::string& why) {
    out.left_out.push_back(cat(name_of_row(row), ": ", why));
  };
  std::ptrdiff_t broken = 0;
  for (const auto& old : before.rows) {
    if (old.kind == Kind::peak) continue;
    const BenchRow* now = find_row(after, old);
    if (now == nullptr) leave_out(old, "only in the old file");
    else if (!measured(old) && measured(*now)) leave_out(old, cat("was ", to_string(old.status)));
    else if (measured(old) && !measured(*now)) {
      leave_out(old, cat("is ", to_string(now->status)));
      if (old.kind == Kind::algorithm &&
          (now->status == RowStatus::refused || now->status == RowStatus::failed)) {
        std::rotate(out.left_out.begin() + broken++, out.left_out.end() - 1, out.left_out.end());
        out.broke = true;
      }
    } else if (measured(old))
      out.comparisons.push_back(compare_rows(before, old, after, *now, threshold));
  }
  for (const auto& now : after.rows) {
    if (now.kind != Kind::peak && find_row(before, now) == nullptr)
      leave_out(now, "only in the new file");
  }
  return out;
}

std::string machine_difference(const BenchResults& before, const BenchResults& after) {
  std::string out;
  const auto add = [&out](const std::string& text) { out += (out.empty() ? "" : ", ") + text; };
  const auto device_of = [](const BenchResults& results) {
    const auto device = results.context.find("device");
    return device == results.context.end() || !device->is_object()
               ? std::string("none")
               : device->value("name", std::string("unknown"));
  };
  if (device_of(before) != device_of(after))
    add(cat("device ", device_of(before), " and ", device_of(after)));
  for (const char* key : {"cpu_model", "cpu_stepping", "num_cpus", "host_name"}) {
    const auto old = before.context.find(key), now = after.context.find(key);
    if (old == before.context.end() || now == after.context.end() || *old == *now) continue;
    add(cat(key, " ", one_line(*old), " and ", one_line(*now)));
  }
  const auto was = caches_of(before), is = caches_of(after);
  if (was.empty() || is.empty()) return out;
  const auto here = without(was, is), there = without(is, was);
  if (!here.empty() || !there.empty())
    add(cat("caches ", here.empty() ? "none" : shell::join(here), " and ",
            there.empty() ? "none" : shell::join(there)));
  return out;
}

std::string comparison_table(const ComparedResults& compared, std::size_t columns) {
  // Narrow lines keep the row, the ratio and the verdict.
  constexpr std::array<int, kHeads.size()> give_way = {0, 1, 2, 0, 3, 4, 5, 0};
  std::vector<shell::Table::Column> heads;
  for (std::size_t i = 0; i < kHeads.size(); ++i)
    heads.push_back({kHeads[i], shell::Align::left, give_way[i]});
  shell::Table table(heads, shell::Narrow::wrapped);
  for (const auto& each : compared.comparisons) table.add(cells_of(each));
  std::string out = summary_of(compared) + "\n";
  for (const auto& note : notes_of(compared)) out += note + "\n";
  return plain_lines(cat(table.text(columns), "\n", shell::wrapped(out, columns)));
}

std::string comparison_markdown(const ComparedResults& compared) {
  const auto line = [](const auto& cells) {
    std::string out = "|";
    for (const auto& cell : cells) out += cat(" ", cell, " |");
    return out + "\n";
  };
  std::string out = line(kHeads) + "|---|--:|--:|--:|--:|--:|---|---|\n";
  for (const auto& each : compared.comparisons) out += line(cells_of(each));
  out += "\n" + summary_of(compared) + "\n";
  for (const auto& note : notes_of(compared)) out += "- " + note + "\n";
  return plain_lines(out);
}

std::string comparison_json(const ComparedResults& compared) {
  ordered_json out = shell::json_object();
  out["old"] = about(*compared.before);
  out["new"] = about(*compared.after);
  out["threshold"] = compared.threshold;
  out["confidence"] = kConfidence;
  out["comparisons"] = ordered_json::array();
  for (const auto& each : compared.comparisons) {
    const BenchCase& on = each.before->on;
    out["comparisons"].push_back({{"contestant", each.before->name},
                                  {"kind", name_of(each.before->kind)},
                                  {"dtype", to_string(on.types)},
                                  {"shape", full_text(on.shape)},
                                  {"threads", on.threads},
                                  {"idle_seconds", on.readiness.idle_seconds},
                                  {"first_call", on.readiness.first_call},
                                  {"by", each.by_share ? "share of peak" : "time"},
                                  {"peak_disturbed", each.peak_disturbed},
                                  {"old_percent_of_peak", percent_or_null(each, each.old_percent)},
                                  {"new_percent_of_peak", percent_or_null(each, each.new_percent)},
                                  {"old_seconds", median(each.before->seconds())},
                                  {"new_seconds", median(each.after->seconds())},
                                  {"old_samples", each.old_samples},
                                  {"new_samples", each.new_samples},
                                  {"ratio", shell::number_or_null(each.ratio)},
                                  {"low", shell::number_or_null(each.interval.low)},
                                  {"high", shell::number_or_null(each.interval.high)},
                                  {"verdict", to_string(each.verdict)},
                                  {"why", each.why}});
  }
  out["not_compared"] = compared.left_out;
  return out.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

bool any_worse(const ComparedResults& compared) {
  return compared.broke || std::any_of(compared.comparisons.begin(), compared.comparisons.end(),
                                       [](const RowComparison& each) {
                                         return each.verdict == Verdict::slower &&
                                                each.before->kind == Kind::algorithm;
                                       });
}

}  // namespace tessera::bench
