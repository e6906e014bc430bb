// Forms of an explanation: see explain_report.hpp.
#include "explain_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "shell/json_text.hpp"
#include "shell/table.hpp"
#include "shell/wrap.hpp"
#include "tessera/check/format.hpp"
#include "tessera/core/text.hpp"

namespace tessera::inspect {

namespace {

using check::Counters;
using check::Report;
using nlohmann::ordered_json;

constexpr std::size_t kLinesShown = 6;

/// Three digits, or a whole number.
std::string number(double value) { return fmt::format("{:.3g}", value); }

std::string modelled_time(double us) {
  if (us < 1) return number(us * 1000) + " ns";
  if (us < 1000) return number(us) + " us";
  return us < 1e6 ? number(us / 1000) + " ms" : number(us / 1e6) + " s";
}

std::string place(const check::Location& at) {
  return fmt::format("{}:{}", std::filesystem::path(at.file).filename().string(), at.line);
}

/// Lines of at most 100 characters, fewer on a narrower terminal; continuation lines are indented
/// by four.
std::string item(const std::string& text, std::size_t columns) {
  const std::size_t most = columns == 0 ? 100 : std::min<std::size_t>(columns, 100);
  std::string out, line;
  std::istringstream words(text.substr(4));
  line = text.substr(0, 3);
  for (std::string word; words >> word;) {
    if (line.size() + 1 + word.size() > most) {
      out += line + "\n";
      line = "   ";
    }
    line += " " + word;
  }
  return out + line + "\n";
}

double ratio(std::int64_t a, std::int64_t b) {
  return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

std::string heading(const Explained& e) {
  const Report& r = e.report;
  std::string out =
      fmt::format("{}{}{}\non {}: grid {}, block {}, {} of shared memory\n", r.kernel,
                  r.problem.empty() ? "" : ": ", r.problem, e.explanation.device->full_name,
                  to_string(r.grid), to_string(r.block), bytes_text(r.shared_bytes));
  if (!r.remark.empty()) out += r.remark + "\n";
  if (r.summary.checked_blocks < r.summary.blocks)
    out += fmt::format("counted in {} of {} blocks; assumes that the others are alike\n",
                       r.summary.checked_blocks, r.summary.blocks);
  if (r.launches.size() > 1)
    out += fmt::format("the launches of {} kernels together: --launch explains one\n",
                       r.launches.size());
  if (!r.summary.clean) {
    out += fmt::format("{}; 'tessera check' with the same options lists them\n",
                       check::summary_line(r));
    if (!r.findings.empty()) out += fmt::format("  {}\n", r.findings.front().problem);
  }
  return out;
}

std::string resources(const Explained& e, std::size_t columns) {
  shell::Table table({{"resource"}, {"busy for", shell::Align::right}, {"work"}},
                     shell::Narrow::wrapped);
  for (const auto& r : e.explanation.resources)
    table.add({std::string(r.name),
               r.least_us == r.most_us
                   ? modelled_time(r.least_us)
                   : fmt::format("{} to {}", modelled_time(r.least_us), modelled_time(r.most_us)),
               r.work});
  return table.text(columns);
}

std::string numbers(const Explained& e) {
  const Counters& c = e.report.total;
  const auto& x = e.explanation;
  std::string out;
  const auto ideal = ratio(c.global_load_sectors_ideal + c.global_store_sectors_ideal,
                           c.global_load_requests + c.global_store_requests);
  if (c.bulk_copies + c.bulk_stores > 0)
    out += fmt::format("bulk copies and stores           {} boxes, {} sectors\n",
                       c.bulk_copies + c.bulk_stores, c.bulk_copy_sectors + c.bulk_store_sectors);
  if (check::sectors_per_request(c) > 0)
    out += fmt::format("sectors for each global request  {} (ideal {})\n",
                       number(check::sectors_per_request(c)), number(ideal));
  if (c.shared_load_requests + c.shared_store_requests + c.unit_operands > 0)
    out += fmt::format("bank conflicts                   {} x the ideal wavefronts\n",
                       number(check::conflict_factor(c)));
  out += fmt::format(
      "occupancy                        {:.0f} %, {} block{} on an SM, limited by {} ({})\n",
      100 * x.occupancy.fraction(), x.occupancy.blocks, x.occupancy.blocks == 1 ? "" : "s",
      check::to_string(x.occupancy.limit), check::registers_text(e.report, *x.device));
  // the checker does not see the multiply-adds of plain CUDA
  if (!e.report.launches.empty()) return out;
  out += fmt::format(
      "flop/byte                        {} compulsory, {} at L1, {} to {} at DRAM; ridge {}\n",
      number(x.roofline.compulsory), number(x.roofline.l1), number(x.roofline.dram_low),
      number(x.roofline.dram_high), number(x.roofline.ridge));
  return out;
}

std::string advice(const Explained& e, std::size_t columns) {
  std::string out;
  int count = 0;
  for (const auto& a : e.explanation.advice)
    out += item(fmt::format("{:2}. {}{}", ++count,
                            a.location.line > 0 ? place(a.location) + ": " : "", a.problem),
                columns) +
           item("    try: " + a.remedy, columns);
  return out.empty() ? fmt::format("{}: the counters suggest no change\n", e.report.kernel)
                     : fmt::format("What to change in {}\n{}", e.report.kernel, out);
}

std::string next_step(const Explained& e) {
  if (e.next == nullptr) return {};
  return fmt::format(
      "\nThe next step, {}: {}.\nSide by side: tessera explain {} --against {} --html FILE\n",
      e.next->name, e.next->idea, e.report.kernel, e.next->name);
}

/// The cost of a line: passes of the data stage and quarters of multiply-adds.
double cost(const Counters& c) {
  return static_cast<double>(c.shared_load_wavefronts + c.shared_store_wavefronts +
                             c.unit_operand_wavefronts) +
         static_cast<double>(c.global_load_sectors + c.global_store_sectors + c.async_copy_sectors +
                             c.bulk_copy_sectors + c.bulk_store_sectors) /
             4 +
         static_cast<double>(c.fma_threads) / 128;
}

std::string line_of(const check::SourceReader& source, const check::Location& at) {
  const auto text = source(at.file);
  if (!text) return {};
  std::istringstream in(*text);
  std::string line;
  for (int i = 0; i < at.line && std::getline(in, line); ++i) {
  }
  return line.substr(std::min(line.find_first_not_of(' '), line.size()));
}

std::string costly_lines(const Explained& e, const check::SourceReader& source,
                         std::size_t columns) {
  std::vector<const check::LineCounters*> lines;
  for (const auto& line : e.report.by_line) lines.push_back(&line);
  std::stable_sort(lines.begin(), lines.end(), [](const auto* a, const auto* b) {
    return cost(a->counters) > cost(b->counters);
  });
  if (lines.size() > kLinesShown) lines.resize(kLinesShown);
  shell::Table table({{e.report.kernel},
                      {"global", shell::Align::right, 2},
                      {"sectors", shell::Align::right},
                      {"shared", shell::Align::right, 1},
                      {"wavefronts", shell::Align::right},
                      {"source"}});
  const auto each = [](std::int64_t requests, std::int64_t transfers) {
    return requests == 0 ? std::string() : number(ratio(transfers, requests));
  };
  const auto count = [](std::int64_t n) { return n == 0 ? std::string() : std::to_string(n); };
  for (const auto* line : lines) {
    const Counters& c = line->counters;
    const auto global = c.global_load_requests + c.global_store_requests + c.async_copy_requests +
                        c.bulk_copies + c.bulk_stores;
    const auto shared = c.shared_load_requests + c.shared_store_requests + c.unit_operands;
    table.add({place(line->location), count(global),
               each(global, c.global_load_sectors + c.global_store_sectors + c.async_copy_sectors +
                                c.bulk_copy_sectors + c.bulk_store_sectors),
               count(shared),
               each(shared, c.shared_load_wavefronts + c.shared_store_wavefronts +
                                c.unit_operand_wavefronts),
               line_of(source, line->location)});
  }
  return table.text(columns);
}

/// The worst warp of each access: "load of A"; of bulk copies and stores, each line's average box.
std::string accesses(const Explained& e, std::size_t columns) {
  constexpr std::size_t least = 90;  // of the title in the table's head
  const std::string title = e.report.kernel + ": worst warp of each access";
  const bool is_narrow = columns > 0 && columns < least;
  shell::Table table({{is_narrow ? "access" : title},
                      {"at"},
                      {"bytes", shell::Align::right},
                      {"takes", shell::Align::right},
                      {"ideal", shell::Align::right}});
  for (const auto& s : e.report.samples) {
    const char* verb = s.is_async    ? "asynchronous copy of "
                       : s.is_atomic ? "atomic on "
                       : s.is_store  ? "store to "
                                     : "load of ";
    const char* unit = s.memory == check::Memory::shared ? "wavefront" : "sector";
    table.add({verb + s.tensor, place(s.location), std::to_string(s.bytes),
               fmt::format("{} {}{}", s.transfers, unit, s.transfers == 1 ? "" : "s"),
               std::to_string(s.ideal)});
  }
  for (const auto& line : e.report.by_line) {
    const Counters& c = line.counters;
    const auto add = [&](const char* verb, std::int64_t boxes, std::int64_t bytes,
                         std::int64_t sectors) {
      if (boxes == 0) return;
      table.add({verb, place(line.location), number(ratio(bytes, boxes)),
                 fmt::format("{} sectors", number(ratio(sectors, boxes))),
                 number(ratio(bytes, 32 * boxes))});
    };
    add("bulk copy of a box", c.bulk_copies, c.bulk_copy_bytes, c.bulk_copy_sectors);
    add("bulk store of a box", c.bulk_stores, c.bulk_store_bytes, c.bulk_store_sectors);
  }
  return (is_narrow ? title + "\n" : "") + table.text(columns);
}

/// For the whole grid, so that kernels with different samples compare.
double whole(const Explained& e, std::int64_t count) {
  const auto& s = e.report.summary;
  return s.checked_blocks == 0 ? 0 : static_cast<double>(count) * ratio(s.blocks, s.checked_blocks);
}

ordered_json roofline_json(const check::Explanation& x) {
  const check::Roofline& r = x.roofline;
  ordered_json out = shell::json_object();
  out["flops"] = x.traffic.flops;
  out["compulsory_bytes"] = x.traffic.compulsory_bytes;
  out["l1_bytes"] = x.traffic.l1_bytes;
  out["peak_flops"] = x.peak_flops;
  out["compulsory_intensity"] = r.compulsory;
  out["l1_intensity"] = r.l1;
  out["dram_intensity"] = {r.dram_low, r.dram_high};
  out["ridge"] = r.ridge;
  out["attainable_flops"] = {r.attainable_low, r.attainable_high};
  out["bound"] = check::to_string(x.bound);
  return out;
}

}  // namespace

std::string explain_text(const Explained& e, std::size_t columns) {
  return cat(shell::wrapped(fmt::format("{}\n{} is {}.\n\n", heading(e), e.report.kernel,
                                        e.explanation.verdict),
                            columns),
             resources(e, columns), "\n", shell::wrapped(numbers(e), columns), "\n",
             accesses(e, columns), "\n", advice(e, columns), shell::wrapped(next_step(e), columns));
}

std::string explain_text(const Explained& e, const check::SourceReader& source,
                         std::size_t columns) {
  return cat(explain_text(e, columns), "\n", costly_lines(e, source, columns));
}

std::string explain_text(const Explained& a, const Explained& b, const check::SourceReader& source,
                         std::size_t columns) {
  shell::Table table({{"counter"},
                      {a.report.kernel, shell::Align::right},
                      {b.report.kernel, shell::Align::right},
                      {"ratio", shell::Align::right, 1},
                      {"meaning", shell::Align::left, 2}});
  for (const auto& counter : check::kCounters) {
    const double x = whole(a, a.report.total.*counter.value),
                 y = whole(b, b.report.total.*counter.value);
    if (x == 0 && y == 0) continue;
    table.add({std::string(counter.name), fmt::format("{:.0f}", x), fmt::format("{:.0f}", y),
               x == 0 ? "" : number(y / x), std::string(counter.meaning)});
  }
  const std::string head =
      fmt::format("{}\n{}\n{} is {}.\n{} is {}.\n\n", heading(a), heading(b), a.report.kernel,
                  a.explanation.verdict, b.report.kernel, b.explanation.verdict);
  return cat(shell::wrapped(head, columns), table.text(columns), "\n",
             costly_lines(a, source, columns), "\n", costly_lines(b, source, columns), "\n",
             accesses(a, columns), "\n", accesses(b, columns), "\n", advice(a, columns), "\n",
             advice(b, columns));
}

ordered_json explain_json(const Explained& e) {
  const Report& r = e.report;
  const check::Explanation& x = e.explanation;
  ordered_json out = shell::json_object();
  out["kernel"] = r.kernel;
  out["problem"] = r.problem;
  out["remark"] = r.remark.empty() ? ordered_json() : ordered_json(r.remark);
  out["device"] = x.device->name;
  out["blocks"] = {{"grid", r.summary.blocks}, {"counted", r.summary.checked_blocks}};
  out["clean"] = r.summary.clean;
  out["verdict"] = x.verdict;
  out["busiest"] = x.resources[x.busiest].name;
  out["busiest_uncached"] = x.resources[x.busiest_uncached].name;
  out["resources"] = ordered_json::array();
  for (const auto& each : x.resources)
    out["resources"].push_back({{"name", each.name},
                                {"least_us", each.least_us},
                                {"most_us", each.most_us},
                                {"work", each.work}});
  out["roofline"] = roofline_json(x);
  out["occupancy"] = {{"blocks", x.occupancy.blocks},
                      {"warps", x.occupancy.warps},
                      {"most_warps", x.occupancy.most_warps},
                      {"fraction", x.occupancy.fraction()},
                      {"limit", check::to_string(x.occupancy.limit)}};
  out["sectors_per_request"] = check::sectors_per_request(r.total);
  out["conflict_factor"] = check::conflict_factor(r.total);
  out["advice"] = ordered_json::array();
  for (const auto& a : x.advice)
    out["advice"].push_back(
        {{"problem", a.problem},
         {"remedy", a.remedy},
         {"location", a.location.line == 0
                          ? ordered_json()
                          : ordered_json{{"file", a.location.file}, {"line", a.location.line}}},
         {"saved_us", a.saved_us}});
  out["counters"] = shell::json_object();
  for (const auto& counter : check::kCounters)
    out["counters"][std::string(counter.name)] = r.total.*counter.value;
  out["next"] = e.next == nullptr
                    ? ordered_json()
                    : ordered_json{{"algorithm", e.next->name}, {"idea", e.next->idea}};
  return out;
}

ordered_json explain_json(const Explained& a, const Explained& b) {
  ordered_json out = shell::json_object();
  out["kernels"] = {explain_json(a), explain_json(b)};
  out["ratios"] = shell::json_object();
  for (const auto& counter : check::kCounters) {
    const double x = whole(a, a.report.total.*counter.value),
                 y = whole(b, b.report.total.*counter.value);
    if (x != 0) out["ratios"][std::string(counter.name)] = y / x;
  }
  return out;
}

}  // namespace tessera::inspect
