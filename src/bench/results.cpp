// Computes figures and groups: see results.hpp.
#include "results.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "shell/suggest.hpp"
#include "tessera/core/text.hpp"

namespace tessera::bench {

namespace {

using Kind = Contestant::Kind;

/// A peak whose spread is above this share of its median is disturbed.
constexpr double kMostPeakSpread = 0.05;

/// A peak below this share of the run's best peak is disturbed: the threshold detects one lost core
/// of up to six. Ordinary changes of the clock stay above it; a larger drop of the clock looks like
/// a lost core.
constexpr double kLeastPeak = 0.85;

Summary summary_of(const std::vector<std::pair<int, double>>& by_round, double factor = 1) {
  std::vector<double> values;
  for (const auto& [round, value] : by_round) values.push_back(value * factor);
  return summarize(values);
}

/// Multiplications and additions a second of the row's peak at the size where it is fastest; `min`
/// is its fastest sample.
double best_peak_rate(const BenchResults& results, const BenchRow& row, double Summary::*time) {
  double out = 0;
  for (const auto& each : results.rows) {
    if (each.kind != Kind::peak || !measured(each) || !same_group(each, row) ||
        each.units != row.units)
      continue;
    out = std::max(out, each.on.flops() / (summarize(each.seconds()).*time));
  }
  return out;
}

/// Is this peak far below that of other sizes of the run? A device's peak is computed from its
/// clock at that moment.
bool fell_behind(const BenchResults& results, const BenchRow& peak) {
  return peak.on.device.empty() && peak.on.flops() / median(peak.seconds()) <
                                       kLeastPeak * best_peak_rate(results, peak, &Summary::median);
}

}  // namespace

std::vector<double> BenchRow::seconds() const {
  std::vector<double> out;
  for (const Sample& sample : samples) out.push_back(sample.seconds);
  return out;
}

bool measured(const BenchRow& row) {
  return row.status == RowStatus::verified && !row.samples.empty();
}

std::vector<std::pair<int, double>> speed_ratios(const BenchRow& row, const BenchRow& other) {
  std::vector<std::pair<int, double>> out;
  for (const Sample& a : row.samples) {
    for (const Sample& b : other.samples) {
      if (a.round == b.round && a.seconds > 0) out.emplace_back(a.round, b.seconds / a.seconds);
    }
  }
  return out;
}

std::vector<std::pair<int, double>> peak_shares(const BenchResults& results, const BenchRow& row) {
  std::vector<std::pair<int, double>> out;
  const double best = best_peak_rate(results, row, &Summary::min);
  for (const auto* peak : others(results, row, Kind::peak)) {
    out = speed_ratios(row, *peak);
    for (auto& [round, share] : out) {
      if (share <= 1) continue;
      const auto at =
          std::find_if(row.samples.begin(), row.samples.end(),
                       [round = round](const Sample& sample) { return sample.round == round; });
      share = row.on.flops() / at->seconds / best;
    }
  }
  if (summary_of(out).median > 1) return {};
  for (auto& [round, share] : out) share = std::min(share, 1.0);
  return out;
}

bool peak_disturbed(const BenchResults& results, const BenchRow& row) {
  for (const auto* peak : others(results, row, Kind::peak)) {
    const Summary seconds = summarize(peak->seconds());
    if (seconds.mad > kMostPeakSpread * seconds.median || fell_behind(results, *peak)) return true;
    for (const auto& each : results.rows) {
      if (each.kind != Kind::peak && measured(each) && same_case(each, row) &&
          each.units == row.units && summary_of(speed_ratios(each, *peak)).median > 1)
        return true;
    }
  }
  return false;
}

std::vector<const BenchRow*> others(const BenchResults& results, const BenchRow& row,
                                    Contestant::Kind kind) {
  std::vector<const BenchRow*> out;
  for (const auto& each : results.rows) {
    if (each.kind == kind && measured(each) && same_case(each, row) &&
        (kind != Kind::peak || each.units == row.units))
      out.push_back(&each);
  }
  return out;
}

bool same_group(const BenchRow& a, const BenchRow& b) {
  return a.on.types == b.on.types && a.on.threads == b.on.threads &&
         a.on.readiness == b.on.readiness && a.on.device == b.on.device;
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
  return std::numeric_limits<double>::quiet_NaN();
}

std::string plain_lines(const std::string& text) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out += printable(std::string_view(text).substr(begin, end - begin), text.size());
    if (end < text.size()) out += '\n';
    begin = end + 1;
  }
  return out;
}

std::string shown_name(const BenchRow& row) {
  return row.kind == Kind::peak && row.units.empty() ? "measured peak" : printable(row.name);
}

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

std::string disturbed_text(const BenchResults& results, const BenchRow& like) {
  std::vector<std::string> shapes;
  for (const auto* each : distinct(results.rows, same_case)) {
    if (same_group(*each, like) && peak_disturbed(results, *each))
      shapes.push_back(to_string(each->on.shape));
  }
  return shapes.empty() ? ""
                        : cat("At ", shell::join(shapes), " ", kPeakDisturbed,
                              ": its shares are uncertain there.");
}

std::string context_text(const BenchResults& results, const char* key) {
  const auto at = results.context.find(key);
  return at != results.context.end() && at->is_string() ? at->get<std::string>() : "";
}

std::string machine_line(const BenchResults& results) {
  std::string out;
  const auto add = [&out](const std::string& text, const char* before) {
    if (!text.empty()) out += (out.empty() ? "" : before) + text;
  };
  const auto device = results.context.find("device");
  if (device != results.context.end() && device->is_object())
    add(device->value("summary", std::string()), "");
  add(context_text(results, "cpu_model"), "; ");
  if (const auto cpus = results.context.find("num_cpus");
      cpus != results.context.end() && cpus->is_number_integer())
    add(cat(cpus->get<int>(), cpus->get<int>() == 1 ? " processor" : " processors"), ", ");
  add(context_text(results, "compiler"), "; ");
  add(context_text(results, "library_build_type"), ", ");
  if (const std::string commit = context_text(results, "commit"); !commit.empty())
    add("commit " + commit, "; ");
  add(context_text(results, "date").substr(0, 10), "; ");
  const auto load = results.context.find("load_avg");
  if (load != results.context.end() && load->is_array() && !load->empty() &&
      load->front().is_number())
    add(fmt::format("load average {:.1f} at the start", load->front().get<double>()), "; ");
  if (const auto others = results.context.find("others_busy");
      others != results.context.end() && others->is_number() && others->get<double>() >= 0.1)
    add(fmt::format("{:.1f} processors busy with other programs", others->get<double>()), ", ");
  return out;
}

std::string to_string(RowStatus status) {
  return std::string(kRowStatusNames[static_cast<std::size_t>(status)]);
}

bool same_case(const BenchRow& a, const BenchRow& b) {
  return same_group(a, b) && a.on.shape == b.on.shape;
}

Figures figures(const BenchResults& results, const BenchRow& row) {
  Figures out;
  out.percent_of_peak = summarize({});
  out.seconds = summarize(row.seconds());
  if (!measured(row)) return out;
  out.gflops = row.on.flops() / out.seconds.median * 1e-9;
  out.peak_disturbed = peak_disturbed(results, row);
  if (row.kind == Kind::peak) return out;
  out.percent_of_peak = summary_of(peak_shares(results, row), 100);
  for (const auto* peer : others(results, row, Kind::peer)) {
    if (peer->name != row.name)
      out.ratios.emplace_back(peer->name, summary_of(speed_ratios(row, *peer)).median);
  }
  return out;
}

}  // namespace tessera::bench
