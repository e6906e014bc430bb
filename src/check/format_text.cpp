// A report as text: see format.hpp.
#include <algorithm>
#include <cstdio>

#include "tessera/check/format.hpp"
#include "tessera/core/text.hpp"
#include "traffic.hpp"

namespace tessera::check {

namespace {

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}
std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}
std::string file_name(const std::string& file) { return file.substr(file.rfind('/') + 1); }
std::string times(std::int64_t count) { return count == 1 ? "once" : cat(count, " times"); }
std::string counted(std::int64_t count, const char* what) {
  return cat(count, " ", what, count == 1 ? "" : "s");
}

std::string finding_text(const Finding& f) {
  std::string out = cat(name(f.severity), ": ", name(f.kind));
  if (f.memory != Memory::none) out += cat(", ", name(f.memory), " memory");
  out += cat(", ", times(f.count), "\n");
  if (f.location.line > 0) {
    out += cat("  at ", f.location.file, ":", f.location.line);
    if (f.other.line > 0) out += cat(", with ", f.other.file, ":", f.other.line);
    out += "\n";
  }
  out += cat("  ", f.problem, "\n");
  if (!f.threads.empty()) {
    out += cat("  first in block ", to_string(f.block));
    if (!f.superstep.empty()) out += cat(", superstep ", f.superstep);
    out += "\n";
  }
  return out + (f.hint.empty() ? "" : cat("  try: ", f.hint, "\n")) + "\n";
}

std::string coverage_text(const Coverage& c) {
  std::string out = cat("  ", c.tensor, " (", c.rows, ",", c.cols, "): ");
  if (!c.is_output) return out + cat(c.read, " of ", c.elements, " elements read\n");
  out += cat(c.written, " of ", c.elements, " elements written");
  if (c.written > 0 && c.written == c.written_once) out += " once";
  else if (c.written > 0) out += cat(", ", c.written_once, " of them once");
  return out + (c.read > 0 ? cat(", ", c.read, " read") : "") + "\n";
}

/// A count and how many transfers each of them takes.
std::string rate(std::int64_t requests, std::int64_t transfers) {
  return padded(requests > 0 ? cat(requests) : "-", 12) +
         padded(requests > 0
                    ? fixed(static_cast<double>(transfers) / static_cast<double>(requests), 2)
                    : "",
                8);
}

std::string line_table(const Report& report) {
  std::size_t width = 10;
  for (const auto& each : report.by_line)
    width = std::max(width, file_name(each.location.file).size() + 8);
  std::string out =
      cat("  ", std::string(width, ' '), padded("global", 12), padded("sectors", 8),
          padded("shared", 12), padded("waves", 8), padded("ideal", 8), padded("flops", 14), "\n");
  const auto row = [&](std::string label, const Counters& c) {
    label.resize(width, ' ');
    const std::int64_t shared =
        c.shared_load_requests + c.shared_store_requests + c.shared_atomic_requests;
    out += cat("  ", label,
               rate(c.global_load_requests + c.global_store_requests + c.global_atomic_requests +
                        c.async_copy_requests,
                    c.global_load_sectors + c.global_store_sectors + c.global_atomic_sectors +
                        c.async_copy_sectors),
               rate(shared, c.shared_load_wavefronts + c.shared_store_wavefronts +
                                c.shared_atomic_wavefronts),
               padded(shared > 0 ? fixed(static_cast<double>(c.shared_load_wavefronts_ideal +
                                                             c.shared_store_wavefronts_ideal +
                                                             c.shared_atomic_requests) /
                                             static_cast<double>(shared),
                                         2)
                                 : "",
                      8),
               padded(cat(c.flops + c.mma_flops), 14), "\n");
  };
  for (const auto& each : report.by_line)
    row(cat(file_name(each.location.file), ":", each.location.line), each.counters);
  row("total", report.total);
  return out;
}

std::string device_text(const Report& report, const DeviceModel& device) {
  const Occupancy o = occupancy(device, needs_of(report));
  std::string out = cat("on ", device.name, ": ");
  if (o.blocks == 0)
    return out + cat("a block does not fit (", to_string(o.limit),
                     "): ", counted(volume(report.block), "thread"), ", ", report.shared_bytes,
                     " bytes of shared memory\n");
  out += cat(counted(o.blocks, "block"), " on each multiprocessor, ", o.warps, " of ", o.most_warps,
             " warps, limited by ", to_string(o.limit), " (registers unknown)\n");
  const Traffic traffic = traffic_of(report);
  if (traffic.flops == 0 || report.summary.checked_blocks < report.summary.blocks) return out;
  const Roofline r = roofline(device, traffic, peak_of(report, device));
  return out + cat("  flop per byte: ", fixed(r.compulsory, 2), " if every byte moves once, ",
                   fixed(r.l1, 2), " at L1, ", fixed(r.dram_low, 2), " to ", fixed(r.dram_high, 2),
                   " at DRAM; the ridge is at ", fixed(r.ridge, 2), ": ", to_string(bound_of(r)),
                   " bound\n");
}

}  // namespace

std::string summary_line(const Report& report) {
  const Summary& s = report.summary;
  std::string out = s.clean ? "clean: " : "NOT clean: ";
  if (s.errors + s.warnings + s.notes == 0) out += "no findings";
  else {
    std::string parts;
    for (const auto& [count, what] :
         {std::pair{s.errors, "error"}, {s.warnings, "warning"}, {s.notes, "note"}}) {
      if (count > 0) parts += cat(parts.empty() ? "" : ", ", counted(count, what));
    }
    out += parts;
  }
  out += s.checked_blocks == s.blocks
             ? cat(" in ", counted(s.blocks, "block"))
             : cat(" in ", s.checked_blocks, " of ", counted(s.blocks, "block"));
  return s.timed_out ? out + ", stopped at the time limit" : out;
}

std::string to_text(const Report& report, const DeviceModel& device) {
  std::string out = cat("kernel ", report.kernel, report.problem.empty() ? "" : ": ",
                        report.problem, "\n", "grid ", to_string(report.grid), ", blocks of ",
                        to_string(report.block), " threads, order ", report.order, "\n\n");
  for (const auto& finding : report.findings) out += finding_text(finding);
  if (!report.coverage.empty()) out += "tensors\n";
  for (const auto& each : report.coverage) out += coverage_text(each);
  if (!report.by_line.empty())
    out += "\nrequests of warps by line; sectors and wavefronts for each request\n" +
           line_table(report) + "\n";
  if (report.summary.checked_blocks > 0) out += device_text(report, device);
  return out + summary_line(report) + "\n";
}

}  // namespace tessera::check
