// Tables of counters: see counter_tables.hpp. A column of a table is as wide as its widest cell.
#include "counter_tables.hpp"

#include <algorithm>
#include <cstdio>

#include "tessera/check/explain.hpp"
#include "tessera/core/text.hpp"

namespace tessera::check {

namespace {

using Rows = std::vector<std::vector<std::string>>;

std::size_t width_of(const Rows& rows) {
  std::size_t out = 0;
  for (std::size_t i = 0; i < rows[0].size(); ++i) {
    std::size_t widest = 0;
    for (const auto& row : rows) widest = std::max(widest, i < row.size() ? row[i].size() : 0);
    out += 2 + widest;
  }
  return out;
}

/// Removes columns, in this order, until the table fits; a line below the table names them.
std::string fit(Rows& rows, std::size_t columns) {
  std::string omitted;
  for (const char* title : {"ideal", "lanes", "flops", "bytes"}) {
    if (columns == 0 || width_of(rows) <= columns) break;
    const auto at = std::find(rows[0].begin(), rows[0].end(), title) - rows[0].begin();
    if (at == std::ssize(rows[0])) continue;
    for (auto& row : rows)
      if (at < std::ssize(row)) row.erase(row.begin() + at);
    omitted += cat(omitted.empty() ? "" : ", ", title);
  }
  return omitted.empty() ? "" : cat("  omitted to fit the width: ", omitted, "\n");
}

/// The first column to the left, the others to the right; the first row is the head.
std::string text_table(Rows rows, std::size_t columns) {
  const std::string omitted = fit(rows, columns);
  std::vector<std::size_t> widths(rows[0].size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string out;
  for (const auto& row : rows) {
    std::string line = "  ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string room(widths[i] - row[i].size(), ' ');
      line += i == 0 ? row[i] + room : "  " + room + row[i];
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out + omitted;
}

/// a / b with two digits; nothing where b is 0.
std::string each(std::int64_t a, std::int64_t b) {
  if (b == 0) return {};
  char text[64];
  std::snprintf(text, sizeof text, "%.2f", static_cast<double>(a) / static_cast<double>(b));
  return text;
}
std::string count_or_dash(std::int64_t value) { return value == 0 ? std::string("-") : cat(value); }

bool has_bulk(const Counters& c) { return c.bulk_copies + c.bulk_stores > 0; }

/// With columns for bulk copies and stores if the kernel, whose total this is, has some.
std::vector<std::string> head(std::string label, const Counters& total) {
  std::vector<std::string> out = {std::move(label), "global", "sectors", "shared",
                                  "waves",          "ideal",  "lanes",   "flops"};
  if (has_bulk(total)) out.insert(out.end(), {"boxes", "bytes", "sectors"});
  return out;
}

std::vector<std::string> row_of(std::string label, const Counters& c, const Counters& total) {
  const std::int64_t global = c.global_load_requests + c.global_store_requests +
                              c.global_atomic_requests + c.async_copy_requests,
                     shared = c.shared_load_requests + c.shared_store_requests +
                              c.shared_atomic_requests + c.unit_operands,
                     sectors = c.global_load_sectors + c.global_store_sectors +
                               c.global_atomic_sectors + c.async_copy_sectors,
                     waves = c.shared_load_wavefronts + c.shared_store_wavefronts +
                             c.shared_atomic_wavefronts + c.unit_operand_wavefronts,
                     ideal = c.shared_load_wavefronts_ideal + c.shared_store_wavefronts_ideal +
                             c.shared_atomic_requests + c.unit_operand_wavefronts_ideal;
  std::vector<std::string> out = {std::move(label),
                                  count_or_dash(global),
                                  each(sectors, global),
                                  count_or_dash(shared),
                                  each(waves, shared),
                                  each(ideal, shared),
                                  each(c.active_lanes, requests_of(c)),
                                  count_or_dash(c.flops + c.mma_flops)};
  if (has_bulk(total))
    out.insert(out.end(), {count_or_dash(c.bulk_copies + c.bulk_stores),
                           count_or_dash(c.bulk_copy_bytes + c.bulk_store_bytes),
                           count_or_dash(c.bulk_copy_sectors + c.bulk_store_sectors)});
  return out;
}

}  // namespace

std::string line_table(const Report& report, std::size_t columns) {
  Rows rows = {head("", report.total)};
  for (const LineCounters& line : report.by_line) {
    const Counters& c = line.counters;
    if (requests_of(c) + c.flops + c.mma_flops == 0 && !has_bulk(c)) continue;  // a barrier
    const std::string& file = line.location.file;
    rows.push_back(
        row_of(cat(file.substr(file.rfind('/') + 1), ":", line.location.line), c, report.total));
  }
  rows.push_back(row_of("total", report.total, report.total));
  return text_table(std::move(rows), columns);
}

std::string superstep_table(const Report& report, std::size_t columns) {
  Rows rows = {head("", report.total)};
  for (const SuperstepCounters& step : report.by_superstep)
    rows.push_back(row_of(cat(step.name, " x ", step.times), step.counters, report.total));
  return text_table(std::move(rows), columns);
}

std::string instruction_table(const Counters& c, std::size_t columns) {
  Rows rows = {{"", "times", "sectors", "waves", "ideal", "bytes"}};
  const auto add = [&](const char* kind, std::int64_t times,
                       std::vector<std::int64_t> others = {}) {
    if (times == 0) return;
    rows.push_back({kind, cat(times)});
    for (const std::int64_t value : others)
      rows.back().push_back(value == 0 ? std::string() : cat(value));
  };
  add("global load", c.global_load_requests,
      {c.global_load_sectors, 0, c.global_load_sectors_ideal, c.global_load_bytes});
  add("global store", c.global_store_requests,
      {c.global_store_sectors, 0, c.global_store_sectors_ideal, c.global_store_bytes});
  add("global atomic", c.global_atomic_requests, {c.global_atomic_sectors});
  add("asynchronous copy", c.async_copy_requests,
      {c.async_copy_sectors, c.async_copy_wavefronts, 0, c.async_copy_bytes});
  add("shared load", c.shared_load_requests,
      {0, c.shared_load_wavefronts, c.shared_load_wavefronts_ideal, c.shared_load_bytes});
  add("shared store", c.shared_store_requests,
      {0, c.shared_store_wavefronts, c.shared_store_wavefronts_ideal, c.shared_store_bytes});
  add("shared atomic", c.shared_atomic_requests, {0, c.shared_atomic_wavefronts});
  add("matrix instruction", c.mma_instructions);
  add("bulk copy", c.bulk_copies, {c.bulk_copy_sectors, 0, 0, c.bulk_copy_bytes});
  add("bulk store", c.bulk_stores, {c.bulk_store_sectors, 0, 0, c.bulk_store_bytes});
  add("operand of a unit", c.unit_operands,
      {0, c.unit_operand_wavefronts, c.unit_operand_wavefronts_ideal});
  add("shuffle", c.shuffles);
  add("vote", c.votes);
  add("barrier of a warp", c.warp_barriers);
  add("barrier of a block", c.block_barriers);
  return text_table(std::move(rows), columns);
}

std::vector<std::string> counter_notes(const Counters& c) {
  std::vector<std::string> out;
  if (c.flops + c.mma_flops == 0 && c.global_load_requests > 0 && c.global_store_requests > 0)
    out.push_back(
        "no flops: only fma() and matrix instructions are counted, a * b + c of plain numbers is "
        "not seen");
  if (c.async_copy_requests > 0) out.push_back("wavefronts of asynchronous copies are an estimate");
  if (c.shared_atomic_requests + c.global_atomic_requests > 0)
    out.push_back(
        "wavefronts and sectors of atomic updates are an estimate: lanes at one address count "
        "once, though a GPU may update it once for each");
  return out;
}

}  // namespace tessera::check
