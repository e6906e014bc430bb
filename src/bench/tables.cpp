// A benchmark's results as CSV, Markdown and a table for a terminal: see report.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "report.hpp"
#include "shell/options.hpp"
#include "shell/suggest.hpp"
#include "shell/table.hpp"
#include "shell/wrap.hpp"
#include "tessera/core/text.hpp"

namespace tessera::bench {

namespace {

using Kind = Contestant::Kind;

/// Two decimals; three if two would show a slower result as 1.00.
std::string ratio_text(double ratio) {
  if (!std::isfinite(ratio)) return "-";
  if (ratio < 0.1) return fmt::format("{:.2g}", ratio);
  return ratio >= 0.995 && ratio < 1 ? fmt::format("{:.3f}", std::min(ratio, 0.999))
                                     : fmt::format("{:.2f}", ratio);
}

/// "34.8 %"; "-" if the peak was disturbed too much; nothing if it was not measured.
std::string share_text(const BenchRow& row, const Figures& found) {
  const double percent = found.percent_of_peak.median;
  if (row.kind == Kind::peak) return "";
  return std::isfinite(percent) ? short_number(percent) + " %" : found.peak_disturbed ? "-" : "";
}

std::string spread_text(const Summary& seconds) {
  return seconds.count < 2 ? "-" : fmt::format("{:.1f} %", 100 * seconds.mad / seconds.median);
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string csv_number(double value) {
  return std::isfinite(value) ? fmt::format("{:.9g}", value) : "";
}

std::string remark_of(const BenchRow& row, const Figures& found) {
  const char* between = row.message.empty() ? "" : "; ";
  return found.peak_disturbed ? cat(row.message, between, kPeakDisturbed) : row.message;
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
                       const Shape& shape) {
  for (const auto& row : rows) {
    if (same_contestant(row, contestant) && row.on.shape == shape) return &row;
  }
  return nullptr;
}

/// Contestants down, sizes across: GFLOP/s and the share of the peak.
std::string speed_table(const BenchResults& results, const std::vector<BenchRow>& group,
                        const std::vector<const BenchRow*>& cases) {
  std::vector<std::string> head = {"GFLOP/s (share of peak)"};
  for (const auto* each : cases) head.push_back(to_string(each->on.shape));
  std::string out = markdown_head(head);
  for (const auto* contestant : distinct(group, same_contestant)) {
    std::vector<std::string> cells = {shown_name(*contestant)};
    for (const auto* each : cases) {
      const BenchRow* row = row_at(group, *contestant, each->on.shape);
      if (row == nullptr) cells.emplace_back("");
      else if (!measured(*row)) cells.push_back(to_string(row->status));
      else {
        const Figures found = figures(results, *row);
        cells.push_back(short_number(found.gflops));
        if (const std::string share = share_text(*row, found); !share.empty())
          cells.back() += cat(" (", share, ")");
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
    head.push_back(to_string(each->on.shape));
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
                                 short_number(found.gflops), share_text(row, found)});
      for (const auto& peer : peers)
        cells.push_back(peak || peer == row.name ? "" : ratio_text(ratio_to(found, peer)));
      cells.push_back(peak ? "" : short_number(row.max_error_ratio));
    }
    out += markdown_line(cells);
  }
  return out;
}

/// The width if the terminal's is unknown.
constexpr std::size_t kMostColumns = 120;

std::size_t widest_line(const std::string& text) {
  std::size_t out = 0;
  for (const auto& line : shell::split(text, '\n')) out = std::max(out, line.size());
  return out;
}

std::vector<std::string> ratio_cells(const BenchRow& row, const Figures& found,
                                     std::span<const std::string> peers) {
  std::vector<std::string> out;
  for (const auto& peer : peers)
    out.push_back(peer == row.name ? "" : ratio_text(ratio_to(found, peer)));
  return out;
}

void add_ratio_columns(std::vector<shell::Table::Column>& columns,
                       std::span<const std::string> peers) {
  for (const auto& peer : peers) columns.push_back({"x " + peer, shell::Align::right});
}

/// A line for each row of a case, with a column for each of the peers.
/// For a peer that runs kernels for another CPU: which, and how to select those for this one.
std::string peer_remark(const BenchResults& results, const std::string& name) {
  const auto peers = results.context.find("peers");
  if (peers == results.context.end() || !peers->is_array()) return {};
  for (const auto& peer : *peers) {
    if (!peer.is_object() || peer.value("name", "") != name || peer.value("better", "").empty())
      continue;
    return cat(peer.value("settings", ""), "; not those for this CPU: set ",
               peer.value("better", ""));
  }
  return {};
}

std::string figures_table(const BenchResults& results, const std::vector<BenchRow>& rows,
                          std::span<const std::string> peers, std::size_t most) {
  std::vector<shell::Table::Column> columns = {{"", shell::Align::left},
                                               {"time", shell::Align::right},
                                               {"spread", shell::Align::right, 1},
                                               {"GFLOP/s", shell::Align::right},
                                               {"% of peak", shell::Align::right}};
  add_ratio_columns(columns, peers);
  columns.push_back({"error/bound", shell::Align::right, 2});
  columns.push_back({"remark", shell::Align::left});
  shell::Table table(columns, shell::Narrow::wrapped);
  for (const auto& row : rows) {
    std::vector<std::string> cells = {shown_name(row)};
    if (measured(row)) {
      const Figures found = figures(results, row);
      cells.insert(cells.end(), {time_text(found.seconds.median), spread_text(found.seconds),
                                 short_number(found.gflops)});
      if (row.kind != Kind::peak) {
        cells.push_back(short_number(found.percent_of_peak.median));
        const auto ratios = ratio_cells(row, found, peers);
        cells.insert(cells.end(), ratios.begin(), ratios.end());
        cells.push_back(short_number(row.max_error_ratio));
      }
      cells.resize(columns.size());
      cells.back() = row.kind == Kind::peak ? remark_of(row, found) : row.message;
      if (row.kind == Kind::peer && cells.back().empty())
        cells.back() = peer_remark(results, row.name);
    } else {
      cells.resize(columns.size());
      cells.back() = to_string(row.status);
    }
    table.add(cells);
  }
  return table.text(most);
}

/// The columns of peers alone, in as many tables as needed.
std::string ratio_tables(const BenchResults& results, const std::vector<BenchRow>& rows,
                         std::span<const std::string> peers, std::size_t most) {
  std::string out;
  while (!peers.empty()) {
    const auto text = [&](std::size_t count) {
      std::vector<shell::Table::Column> columns = {{"times the speed of", shell::Align::left}};
      add_ratio_columns(columns, peers.first(count));
      shell::Table table(columns);
      for (const auto& row : rows) {
        if (!measured(row) || row.kind == Kind::peak) continue;
        auto cells = ratio_cells(row, figures(results, row), peers.first(count));
        cells.insert(cells.begin(), row.name);
        table.add(cells);
      }
      return table.text();
    };
    std::size_t count = peers.size();
    while (count > 1 && widest_line(text(count)) > most) --count;
    out += "\n" + text(count);
    peers = peers.subspan(count);
  }
  return out;
}

/// Why rows have no figures, each reason once: "xsmm: unsupported: ...".
std::string reasons(const std::vector<BenchRow>& rows) {
  const auto same = [](const BenchRow& a, const BenchRow& b) {
    return a.status == b.status && a.message == b.message;
  };
  std::string out;
  for (const auto* first : distinct(rows, same)) {
    if (measured(*first)) continue;
    std::vector<std::string> names;
    for (const auto& row : rows) {
      if (same(row, *first)) names.push_back(row.name);
    }
    out += cat(shell::join(names), ": ", to_string(first->status), ": ", first->message, "\n");
  }
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

}  // namespace

std::string to_csv(const BenchResults& results) {
  const auto peers = peer_names(results.rows);
  std::string out =
      "name,kind,dtype,m,n,k,batch,transposition,update,device,threads,idle_seconds,first_call,"
      "status,max_error_ratio,repetitions,iterations,"
      "seconds_median,seconds_mad,seconds_min,seconds_mean,gflops,percent_of_peak,bytes,"
      "arithmetic_intensity";
  for (const auto& peer : peers) out += cat(",ratio_", quoted(peer));
  out += ",remark\n";
  for (const auto& row : results.rows) {
    const Figures found = figures(results, row);
    const bool good = measured(row);
    index_t iterations = 0;
    for (const Sample& sample : row.samples) iterations += sample.iterations;
    const Shape& shape = row.on.shape;
    out += fmt::format("{},{},{},{},{},{},{},{},{:d},{},{},{:g},{:d},{},{}", quoted(row.name),
                       name_of(row.kind), to_string(row.on.types), shape.M, shape.N, shape.K,
                       shape.batch, transposition_text(shape), shape.updates,
                       row.on.device.empty() ? "cpu" : row.on.device, row.on.threads,
                       row.on.readiness.idle_seconds, row.on.readiness.first_call,
                       to_string(row.status), csv_number(row.max_error_ratio));
    out +=
        fmt::format(",{},{},{},{},{},{},{},{},{:.17g},{:.9g}", row.samples.size(), iterations,
                    csv_number(found.seconds.median), csv_number(found.seconds.mad),
                    csv_number(found.seconds.min), csv_number(found.seconds.mean),
                    good ? csv_number(found.gflops) : "", csv_number(found.percent_of_peak.median),
                    row.on.bytes(), row.on.flops() / row.on.bytes());
    for (const auto& peer : peers) out += cat(",", csv_number(ratio_to(found, peer)));
    out += cat(",", quoted(remark_of(row, found)), "\n");
  }
  return out;
}

std::string to_markdown(const BenchResults& results) {
  std::string out;
  for (const auto* first : distinct(results.rows, same_group)) {
    const auto group = group_of(results, *first);
    const auto cases = distinct(group, same_case);
    out += cat("### ", group_text(first->on));
    if (cases.size() == 1) {
      out += cat(", ", to_string(first->on.shape), "\n\n", detail_table(results, group), "\n");
    } else {
      out += "\n\n" + speed_table(results, group, cases) + "\n";
      if (!peer_names(group).empty()) out += best_table(results, group, cases) + "\n";
    }
    if (const auto where = disturbed_text(results, *first); !where.empty()) out += where + "\n\n";
  }
  if (results.context.contains("interrupted"))
    out += "Interrupted: the measurement is incomplete.\n\n";
  out += "Machine: " + machine_line(results) + ".\n";
  if (const std::string method = context_text(results, "method"); !method.empty())
    out += "\nMethod: " + method + "\n";
  if (const std::string peers = peer_lines(results); !peers.empty()) out += "\nPeers:\n\n" + peers;
  return plain_lines(out);
}

CaseTable case_table(const BenchResults& results, const BenchRow& of, std::size_t columns) {
  std::vector<BenchRow> rows;
  for (const auto& row : results.rows) {
    if (same_case(row, of)) rows.push_back(row);
  }
  std::vector<std::string> peers;  // the first peer with a ratio
  for (const auto* row : others(results, of, Kind::peer)) peers.push_back(row->name);
  const std::string why = reasons(rows);
  const std::size_t most = columns == 0 ? kMostColumns : columns;
  std::string text = figures_table(results, rows, peers, 0), more;
  if (widest_line(text) > most) {
    text = figures_table(results, rows, {}, columns);
    more = ratio_tables(results, rows, peers, most);
  }
  return {cat(group_text(of.on), ", ", full_text(of.on.shape)),
          plain_lines(text + shell::wrapped(why, columns) + more)};
}

}  // namespace tessera::bench
