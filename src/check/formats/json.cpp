// A report as JSON and JUnit: see format.hpp.
#include <nlohmann/json.hpp>

#include "base/markup.hpp"
#include "check/finding_places.hpp"
#include "check/traffic.hpp"
#include "tessera/check/format.hpp"
#include "tessera/core/text.hpp"

namespace tessera::check {

namespace {

using nlohmann::ordered_json;

/// `value`, or null where there is none.
template <class T>
ordered_json if_any(bool exists, const T& value) {
  return exists ? ordered_json(value) : ordered_json(nullptr);
}
/// A number that JSON can hold; null for infinity.
ordered_json number(double value) { return if_any(value - value == 0, value); }

template <class Point>
ordered_json json_of_point(const Point& at) {
  return ordered_json::array({at.x, at.y, at.z});
}
ordered_json json_of(const Position& block) {
  return if_any(block.linear >= 0, json_of_point(block));
}

ordered_json json_of(const Location& at) {
  if (at.line == 0) return nullptr;
  ordered_json out = {{"file", at.file}, {"line", at.line}};
  if (at.column > 0) out["column"] = at.column;
  return out;
}

ordered_json json_of(const Finding& f) {
  ordered_json threads = ordered_json::array();
  for (const auto& thread : f.threads) threads.push_back(json_of_point(thread));
  ordered_json also = ordered_json::array();
  for (const Also& each : f.also)
    also.push_back({{"tensor", each.tensor},
                    {"location", json_of(each.location)},
                    {"other", json_of(each.other)}});
  return {{"kind", name(f.kind)},
          {"severity", name(f.severity)},
          {"memory", name(f.memory)},
          {"tensor", f.tensor},
          {"element", f.element},
          {"location", json_of(f.location)},
          {"other", json_of(f.other)},
          {"threads", std::move(threads)},
          {"block", json_of(f.block)},
          {"other_block", json_of(f.other_block)},
          {"superstep", f.superstep},
          {"kernel", if_any(!f.kernel.empty(), f.kernel)},
          {"count", f.count},
          {"problem", f.problem},
          {"hint", f.hint},
          {"also", std::move(also)}};
}

ordered_json json_of(const Suppressed& s) {
  ordered_json out = json_of(s.finding);
  out["reason"] = s.reason;
  return out;
}

ordered_json json_of(const Counters& counters) {
  ordered_json out = ordered_json::object();
  for (const auto& each : kCounters) out[std::string(each.name)] = counters.*each.value;
  return out;
}

ordered_json json_of(const LineCounters& line) {
  ordered_json out = json_of(line.location);
  out["counters"] = json_of(line.counters);
  return out;
}

ordered_json json_of(const SuperstepCounters& step) {
  return {{"superstep", step.name}, {"times", step.times}, {"counters", json_of(step.counters)}};
}

ordered_json json_of(const Coverage& c) {
  return {{"tensor", c.tensor},
          {"dtype", if_any(c.dtype.has_value(), name(c.dtype.value_or(DType::f32)))},
          {"is_output", c.is_output},
          {"shape", {c.rows, c.cols}},
          {"elements", c.elements},
          {"read", c.read},
          {"written", c.written},
          {"written_once", c.written_once}};
}

ordered_json json_of(const Report& report, const DeviceModel& device) {
  const Occupancy o = occupancy(device, needs_of(report));
  const Roofline r = roofline(device, traffic_of(report), peak_of(report, device));
  const ordered_json intensity = {{"compulsory", number(r.compulsory)},
                                  {"l1", number(r.l1)},
                                  {"dram_low", number(r.dram_low)},
                                  {"dram_high", number(r.dram_high)},
                                  {"ridge", number(r.ridge)}};
  return {{"name", device.name},
          {"blocks_per_sm", o.blocks},
          {"warps_per_sm", o.warps},
          {"limited_by", to_string(o.limit)},
          {"registers", if_any(report.registers > 0, report.registers)},
          {"intensity", intensity}};
}

ordered_json json_of(const LaunchedKernel& k) {
  return {{"kernel", k.kernel},
          {"grid", json_of_point(k.grid)},
          {"block_dim", json_of_point(k.block)},
          {"times", k.launches}};
}

ordered_json json_of(const Summary& s) {
  return {{"clean", s.clean},
          {"errors", s.errors},
          {"warnings", s.warnings},
          {"notes", s.notes},
          {"blocks", s.blocks},
          {"checked_blocks", s.checked_blocks},
          {"suppressed", s.suppressed},
          {"timed_out", s.timed_out},
          {"incomplete", if_any(!s.incomplete.empty(), s.incomplete)}};
}

/// One access of the source, all its requests together.
ordered_json json_of(const AccessSample& s) {
  ordered_json out = json_of(s.location);
  out["tensor"] = s.tensor;
  out["memory"] = name(s.memory);
  out["operation"] = s.is_async    ? "async-copy"
                     : s.is_atomic ? "atomic"
                     : s.is_store  ? "store"
                                   : "load";
  out["lane_bytes"] = s.bytes;
  out["requests"] = s.requests;
  out["transfers"] = s.all_transfers;
  out["worst_transfers"] = s.transfers;
  out["worst_ideal"] = s.ideal;
  return out;
}

template <class List>
ordered_json json_of_all(const List& list) {
  ordered_json out = ordered_json::array();
  for (const auto& each : list) out.push_back(json_of(each));
  return out;
}

/// Which counters follow a rule without a measurement, and how many requests of this run used it.
ordered_json unmeasured_json(const Counters& c) {
  ordered_json out = ordered_json::array();
  const auto add = [&](const char* rule, const char* counter, std::int64_t requests) {
    if (requests > 0)
      out.push_back(ordered_json{{"rule", rule}, {"counter", counter}, {"requests", requests}});
  };
  add("wavefronts of asynchronous copies, an estimate", "async_copy_wavefronts",
      c.async_copy_requests);
  add("wavefronts of atomic updates, an estimate: lanes at one address count once",
      "shared_atomic_wavefronts", c.shared_atomic_requests);
  add("sectors of atomic updates, an estimate: lanes at one address count once",
      "global_atomic_sectors", c.global_atomic_requests);
  return out;
}

ordered_json counters_json(const Report& report) {
  return {{"total", json_of(report.total)},
          {"by_line", json_of_all(report.by_line)},
          {"by_access", json_of_all(report.samples)},
          {"by_superstep", json_of_all(report.by_superstep)},
          {"unmeasured", unmeasured_json(report.total)}};
}

std::string at_place(const Location& at) { return cat(at.file, ":", at.line); }

/// A JUnit case up to its result: the kernel, or a finding, with its position.
std::string junit_head(const Report& report, const std::string& kernel, const std::string& finding,
                       const Location& at) {
  std::string name = report.problem.empty() ? kernel : cat(kernel, " ", report.problem);
  if (!finding.empty()) name += ": " + finding;
  std::string out = cat("    <testcase classname=\"tessera.check\" name=\"", escaped(name), "\"");
  if (at.line > 0) out += cat(" file=\"", escaped(at.file), "\" line=\"", at.line, "\"");
  return out + ">";
}

std::string junit_case(const Report& report, const Finding& f, const std::string& outcome) {
  std::string title = cat(name(f.kind), f.tensor.empty() ? "" : " of ", f.tensor);
  if (f.location.line > 0) title += " at " + at_place(f.location);
  if (f.other.line > 0) title += ", with " + at_place(f.other);
  return cat(junit_head(report, kernel_of(report, f), title, f.location), "\n      ", outcome,
             "\n    </testcase>\n");
}

/// A note is not a failure.
std::string outcome_of(const Finding& f) {
  const std::string text = escaped(cat(name(f.severity), ": ", name(f.kind), ", ", f.count,
                                       f.count == 1 ? " time\n" : " times\n", f.problem, "\n",
                                       f.hint.empty() ? "" : cat("try: ", f.hint, "\n")));
  if (f.severity == Severity::note) return cat("<system-out>", text, "</system-out>");
  return cat("<failure type=\"", name(f.kind), "\" message=\"", escaped(f.problem), "\">", text,
             "</failure>");
}

}  // namespace

std::string to_json(const Report& report, const DeviceModel& device) {
  const ordered_json out = {{"kernel", report.kernel},
                            {"problem", report.problem},
                            {"remark", if_any(!report.remark.empty(), report.remark)},
                            {"order", report.order},
                            {"grid", json_of_point(report.grid)},
                            {"block_dim", json_of_point(report.block)},
                            {"shared_bytes", report.shared_bytes},
                            {"summary", json_of(report.summary)},
                            {"findings", json_of_all(report.findings)},
                            {"suppressed", json_of_all(report.suppressed)},
                            {"unused_suppressions", report.unused_suppressions},
                            {"counters", counters_json(report)},
                            {"tensors", json_of_all(report.coverage)},
                            {"device", json_of(report, device)},
                            {"launches", json_of_all(report.launches)}};
  return out.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string to_junit(const Report& report) {
  const Summary& summary = report.summary;
  std::string cases;
  for (const Finding& f : report.findings) cases += junit_case(report, f, outcome_of(f));
  for (const Suppressed& s : report.suppressed)
    cases += junit_case(report, s.finding, cat("<skipped message=\"", escaped(s.reason), "\"/>"));
  const std::int64_t failures = summary.errors + summary.warnings;
  const bool is_alone = failures == 0, is_unfinished = is_alone && !summary.clean;
  if (is_alone)  // the kernel itself
    cases += cat(junit_head(report, report.kernel, {}, {}),
                 is_unfinished
                     ? cat("\n      <error message=\"", escaped(summary_line(report)), "\"/>\n    ")
                     : std::string(),
                 "</testcase>\n");
  const auto tests = static_cast<std::int64_t>(report.findings.size() + report.suppressed.size()) +
                     (is_alone ? 1 : 0);
  return cat("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"",
             escaped(cat("tessera check ", report.kernel)), "\" tests=\"", tests, "\" failures=\"",
             failures, "\" errors=\"", is_unfinished ? 1 : 0, "\" skipped=\"",
             report.suppressed.size(), "\">\n", cases, "  </testsuite>\n</testsuites>\n");
}

}  // namespace tessera::check
