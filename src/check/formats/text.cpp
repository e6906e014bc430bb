// A report as text: see format.hpp.
#include "tessera/core/text.hpp"

#include <algorithm>
#include <cstdio>

#include "check/counter_tables.hpp"
#include "check/finding_places.hpp"
#include "check/traffic.hpp"
#include "check/units.hpp"
#include "tessera/check/explain.hpp"
#include "tessera/check/format.hpp"

namespace tessera::check {

namespace {

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}
std::string times(std::int64_t count) { return count == 1 ? "once" : cat(count, " times"); }

/// The other tiles of one mistake, the first few of them.
std::string also_text(const Finding& f) {
  constexpr std::size_t kShown = 6;
  std::string out;
  for (std::size_t i = 0; i < std::min(f.also.size(), kShown); ++i) {
    const Also& also = f.also[i];
    out += cat("  also in ", also.tensor);
    if (also.location != f.location || also.other != f.other) {
      out += cat(", at ", also.location.file, ":", also.location.line);
      if (also.other.line > 0) out += cat(", with ", also.other.file, ":", also.other.line);
    }
    out += "\n";
  }
  return f.also.size() <= kShown ? out : out + cat("  and in ", f.also.size() - kShown, " more\n");
}

std::string finding_text(const Report& report, const Finding& f) {
  const std::string kernel = where_of(report, f);
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
    out += cat("  first in ", kernel.empty() ? "" : cat("kernel ", kernel, ", "), "block ",
               to_string(f.block));
    if (!f.superstep.empty()) out += cat(", superstep ", f.superstep);
    out += "\n";
  }
  return out + also_text(f) + (f.hint.empty() ? "" : cat("  try: ", f.hint, "\n")) + "\n";
}

std::string suppressed_text(const Report& report) {
  std::string out;
  for (const auto& [finding, reason] : report.suppressed)
    out +=
        cat("suppressed: ", name(finding.kind),
            finding.location.line > 0
                ? cat(" at ", finding.location.file, ":", finding.location.line)
                : cat(" of ", finding.tensor.empty() ? kernel_of(report, finding) : finding.tensor),
            ": ", reason, "\n");
  for (const auto& each : report.unused_suppressions)
    out += cat("unused suppression: ", each, "\n");
  return out;
}

std::string coverage_text(const Coverage& c) {
  std::string out = cat("  ", c.tensor, " (", c.rows, ",", c.cols, "): ");
  if (!c.is_output) return out + cat(c.read, " of ", c.elements, " elements read\n");
  out += cat(c.written, " of ", c.elements, " elements written");
  if (c.written > 0 && c.written == c.written_once) out += " once";
  else if (c.written > 0) out += cat(", ", c.written_once, " of them once");
  return out + (c.read > 0 ? cat(", ", c.read, " read") : "") + "\n";
}

std::string device_text(const Report& report, const DeviceModel& device) {
  const Occupancy o = occupancy(device, needs_of(report));
  std::string out = cat("on ", device.name, ": ");
  if (o.blocks == 0)
    return out + cat("a block does not fit (", to_string(o.limit),
                     "): ", counted(volume(report.block), "thread"), ", ", report.shared_bytes,
                     " bytes of shared memory\n");
  out +=
      cat(counted(o.blocks, "block"), " on each multiprocessor, ", o.warps, " of ", o.most_warps,
          " warps, limited by ", to_string(o.limit), " (", registers_text(report, device), ")\n");
  const Traffic traffic = traffic_of(report);
  if (traffic.flops == 0 || report.summary.checked_blocks < report.summary.blocks) return out;
  const Roofline r = roofline(device, traffic, peak_of(report, device));
  out += "  flop per byte: ";
  // Which bytes a program in plain CUDA accesses is not known as a whole.
  const bool knows_all = traffic.compulsory_bytes > 0;
  if (knows_all) out += cat(fixed(r.compulsory, 2), " if every byte moves once, ");
  out += cat(fixed(r.l1, 2), " at L1");
  if (knows_all) out += cat(", ", fixed(r.dram_low, 2), " to ", fixed(r.dram_high, 2), " at DRAM");
  return out + cat("; the ridge is at ", fixed(r.ridge, 2), "\n");
}

std::string launches_text(const Report& report) {
  std::string out;
  for (const LaunchedKernel& each : report.launches)
    out += cat("  ", each.kernel, ": grid ", to_string(each.grid), ", blocks of ",
               to_string(each.block), ", launched ", times(each.launches), "\n");
  return "launches\n" + out + "\n";
}

std::string counters_text(const Report& report, std::size_t columns) {
  std::string out =
      cat("\nrequests of warps by line; sectors, wavefronts and lanes of each request\n",
          line_table(report, columns), "\nby superstep\n", superstep_table(report, columns),
          "\ninstructions of warps\n", instruction_table(report.total, columns));
  for (const std::string& note : counter_notes(report.total)) out += cat("  note: ", note, "\n");
  return out + "\n";
}

}  // namespace

std::string summary_line(const Report& report) {
  const Summary& s = report.summary;
  if (!s.incomplete.empty() && exit_code(s) == 4) return "could not check: " + s.incomplete;
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
  if (volume(report.grid) == 0) out += ", and no kernel ran";
  else if (s.checked_blocks == s.blocks) out += cat(" in ", counted(s.blocks, "block"));
  else out += cat(" in ", s.checked_blocks, " of ", counted(s.blocks, "block"));
  if (s.suppressed > 0) out += cat(", ", s.suppressed, " suppressed");
  if (!s.incomplete.empty()) return cat(out, "; ", s.incomplete);
  return s.timed_out ? out + ", stopped at the time limit" : out;
}

std::string to_text(const Report& report, const DeviceModel& device, std::size_t columns) {
  std::string out =
      cat("kernel ", report.kernel, report.problem.empty() ? "" : ": ", report.problem, "\n");
  if (!report.remark.empty()) out += cat(report.remark, "\n");
  out += volume(report.grid) == 0
             ? cat("no kernel ran\n\n")
             : cat("grid ", to_string(report.grid), ", blocks of ", to_string(report.block),
                   " threads, order ", report.order, "\n\n");
  if (report.launches.size() > 1) out += launches_text(report);
  for (const auto& finding : report.findings) out += finding_text(report, finding);
  if (!report.coverage.empty()) out += "tensors\n";
  for (const auto& each : report.coverage) out += coverage_text(each);
  if (!report.by_line.empty()) out += counters_text(report, columns);
  if (report.summary.checked_blocks > 0) out += device_text(report, device);
  out += suppressed_text(report);
  return out + summary_line(report) + "\n";
}

}  // namespace tessera::check
