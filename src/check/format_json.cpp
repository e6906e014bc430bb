// A report as JSON and JUnit: see format.hpp.
#include <nlohmann/json.hpp>

#include "tessera/check/format.hpp"
#include "tessera/core/markup.hpp"
#include "tessera/core/text.hpp"
#include "traffic.hpp"

namespace tessera::check {

namespace {

using nlohmann::ordered_json;

ordered_json json_of(const Location& at) {
  if (at.line == 0) return nullptr;
  ordered_json out = ordered_json::object();
  out["file"] = at.file;
  out["line"] = at.line;
  if (at.column > 0) out["column"] = at.column;
  return out;
}
ordered_json json_of(const Position& at) { return ordered_json::array({at.x, at.y, at.z}); }
ordered_json json_of(const Dim3& at) { return ordered_json::array({at.x, at.y, at.z}); }

ordered_json json_of(const Finding& f) {
  ordered_json out = ordered_json::object();
  out["kind"] = name(f.kind);
  out["severity"] = name(f.severity);
  out["memory"] = name(f.memory);
  out["tensor"] = f.tensor;
  out["element"] = f.element;
  out["location"] = json_of(f.location);
  out["other"] = json_of(f.other);
  out["threads"] = ordered_json::array();
  for (const auto& thread : f.threads) out["threads"].push_back(json_of(thread));
  out["block"] = f.block.linear < 0 ? ordered_json(nullptr) : json_of(f.block);
  out["other_block"] = f.other_block.linear < 0 ? ordered_json(nullptr) : json_of(f.other_block);
  out["superstep"] = f.superstep;
  out["count"] = f.count;
  out["problem"] = f.problem;
  out["hint"] = f.hint;
  return out;
}

ordered_json json_of(const Counters& counters) {
  ordered_json out = ordered_json::object();
  for (const auto& each : kCounters) out[std::string(each.name)] = counters.*each.value;
  return out;
}

ordered_json json_of(const Coverage& c) {
  ordered_json out = ordered_json::object();
  out["tensor"] = c.tensor;
  out["dtype"] = c.dtype ? ordered_json(name(*c.dtype)) : ordered_json(nullptr);
  out["is_output"] = c.is_output;
  out["shape"] = {c.rows, c.cols};
  out["elements"] = c.elements;
  out["read"] = c.read;
  out["written"] = c.written;
  out["written_once"] = c.written_once;
  return out;
}

/// A number that JSON can hold; null for infinity.
ordered_json number(double value) {
  if (value - value != 0) return nullptr;
  return value;
}

ordered_json json_of(const Report& report, const DeviceModel& device) {
  ordered_json out = ordered_json::object();
  const Occupancy o = occupancy(device, needs_of(report));
  out["name"] = device.name;
  out["blocks_per_sm"] = o.blocks;
  out["warps_per_sm"] = o.warps;
  out["limited_by"] = to_string(o.limit);
  out["registers"] = report.registers == 0 ? ordered_json(nullptr) : ordered_json(report.registers);
  const Roofline r = roofline(device, traffic_of(report), peak_of(report, device));
  out["intensity"] = ordered_json::object();
  out["intensity"]["compulsory"] = number(r.compulsory);
  out["intensity"]["l1"] = number(r.l1);
  out["intensity"]["dram_low"] = number(r.dram_low);
  out["intensity"]["dram_high"] = number(r.dram_high);
  out["intensity"]["ridge"] = number(r.ridge);
  return out;
}

ordered_json json_of(const Summary& s) {
  ordered_json out = ordered_json::object();
  out["clean"] = s.clean;
  out["errors"] = s.errors;
  out["warnings"] = s.warnings;
  out["notes"] = s.notes;
  out["blocks"] = s.blocks;
  out["checked_blocks"] = s.checked_blocks;
  out["suppressed"] = s.suppressed;
  out["timed_out"] = s.timed_out;
  out["incomplete"] = s.incomplete.empty() ? ordered_json(nullptr) : ordered_json(s.incomplete);
  return out;
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

/// Which counters follow a rule that nobody has measured on the devices, and how many requests of
/// this run did.
ordered_json unmeasured_json(const Counters& c) {
  ordered_json out = ordered_json::array();
  const auto add = [&](const char* rule, const char* counter, std::int64_t requests) {
    if (requests > 0)
      out.push_back(ordered_json{{"rule", rule}, {"counter", counter}, {"requests", requests}});
  };
  add("merging of wide loads, unmeasured on sm_90", "shared_load_wavefronts",
      c.merged_load_requests);
  add("wavefronts of asynchronous copies, an estimate", "async_copy_wavefronts",
      c.async_copy_requests);
  return out;
}

ordered_json counters_json(const Report& report) {
  ordered_json out = ordered_json::object();
  out["total"] = json_of(report.total);
  auto& by_line = out["by_line"] = ordered_json::array();
  for (const auto& each : report.by_line) {
    ordered_json line = json_of(each.location);
    line["counters"] = json_of(each.counters);
    by_line.push_back(std::move(line));
  }
  auto& by_access = out["by_access"] = ordered_json::array();
  for (const auto& each : report.samples) by_access.push_back(json_of(each));
  auto& by_superstep = out["by_superstep"] = ordered_json::array();
  for (const auto& each : report.by_superstep) {
    ordered_json step = ordered_json::object();
    step["superstep"] = each.name;
    step["times"] = each.times;
    step["counters"] = json_of(each.counters);
    by_superstep.push_back(std::move(step));
  }
  out["unmeasured"] = unmeasured_json(report.total);
  return out;
}

}  // namespace

std::string to_json(const Report& report, const DeviceModel& device) {
  ordered_json out = ordered_json::object();
  out["kernel"] = report.kernel;
  out["problem"] = report.problem;
  out["order"] = report.order;
  out["grid"] = json_of(report.grid);
  out["block_dim"] = json_of(report.block);
  out["shared_bytes"] = report.shared_bytes;
  out["summary"] = json_of(report.summary);
  out["findings"] = ordered_json::array();
  for (const auto& finding : report.findings) out["findings"].push_back(json_of(finding));
  out["suppressed"] = ordered_json::array();
  for (const auto& each : report.suppressed) {
    out["suppressed"].push_back(json_of(each.finding));
    out["suppressed"].back()["reason"] = each.reason;
  }
  out["unused_suppressions"] = report.unused_suppressions;
  out["counters"] = counters_json(report);
  out["tensors"] = ordered_json::array();
  for (const auto& each : report.coverage) out["tensors"].push_back(json_of(each));
  out["device"] = json_of(report, device);
  return out.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string to_junit(const Report& report) {
  const std::string label = cat("tessera check ", report.kernel);
  const bool clean = report.summary.clean;
  std::string out =
      cat("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"",
          escaped(label), "\" tests=\"1\" failures=\"", clean ? 0 : 1,
          "\" errors=\"0\">\n    <testcase classname=\"tessera.check\" name=\"",
          escaped(report.problem.empty() ? report.kernel : cat(report.kernel, " ", report.problem)),
          "\"");
  if (clean) return out + "/>\n  </testsuite>\n</testsuites>\n";
  out += cat(">\n      <failure message=\"", escaped(summary_line(report)), "\">");
  for (const auto& f : report.findings) {
    out += escaped(cat(name(f.severity), ": ", name(f.kind), " at ", f.location.file, ":",
                       f.location.line, ": ", f.problem)) +
           "\n";
  }
  return out + "</failure>\n    </testcase>\n  </testsuite>\n</testsuites>\n";
}

}  // namespace tessera::check
