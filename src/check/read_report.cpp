// Reads back what to_json() writes: see format.hpp.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tessera/check/format.hpp"
#include "tessera/core/error.hpp"

namespace tessera::check {

namespace {

using Json = nlohmann::json;

Location location_of(const Json& at) {
  if (at.is_null() || !at.contains("file")) return {};  // no line
  return {at.at("file"), at.at("line"), at.value("column", 0)};
}

/// The coordinates that a report shows; the number in the grid is not kept.
Position position_of(const Json& at) {
  Position out;
  out.linear = at.is_null() ? -1 : 0;
  if (!at.is_null()) out.x = at.at(0), out.y = at.at(1), out.z = at.at(2);
  return out;
}

Dim3 dim3_of(const Json& at) { return {at.at(0), at.at(1), at.at(2)}; }

template <class Value, class Names>
Value named(const Json& value, const Names& names) {
  const auto at = std::find(names.begin(), names.end(), value.get<std::string>());
  if (at == names.end())
    throw Error(Category::file, cat("a report names '", value.get<std::string>(), "'"));
  return static_cast<Value>(at - names.begin());
}

Finding finding_of(const Json& from) {
  static constexpr std::array<std::string_view, 3> kSeverities = {"note", "warning", "error"};
  static constexpr std::array<std::string_view, 4> kMemories = {"none", "local", "shared",
                                                                "global"};
  Finding out;
  out.kind = named<Kind>(from.at("kind"), kKindNames);
  out.severity = named<Severity>(from.at("severity"), kSeverities);
  out.memory = named<Memory>(from.at("memory"), kMemories);
  out.tensor = from.at("tensor");
  out.element = from.at("element").get<std::vector<index_t>>();
  out.location = location_of(from.at("location"));
  out.other = location_of(from.at("other"));
  for (const Json& each : from.at("threads")) out.threads.push_back(position_of(each));
  out.block = position_of(from.at("block"));
  out.other_block = position_of(from.at("other_block"));
  out.superstep = from.at("superstep");
  if (from.contains("kernel") && !from.at("kernel").is_null()) out.kernel = from.at("kernel");
  out.count = from.at("count");
  out.problem = from.at("problem");
  out.hint = from.at("hint");
  for (const Json& each : from.at("also"))
    out.also.push_back(
        {each.at("tensor"), location_of(each.at("location")), location_of(each.at("other"))});
  return out;
}

Summary summary_of(const Json& from) {
  Summary out;
  out.clean = from.at("clean");
  out.errors = from.at("errors"), out.warnings = from.at("warnings"), out.notes = from.at("notes");
  out.blocks = from.at("blocks"), out.checked_blocks = from.at("checked_blocks");
  out.suppressed = from.at("suppressed");
  out.timed_out = from.at("timed_out");
  if (!from.at("incomplete").is_null()) out.incomplete = from.at("incomplete");
  return out;
}

Counters counters_of(const Json& from) {
  Counters out;
  for (const auto& each : kCounters) out.*each.value = from.at(std::string(each.name));
  return out;
}

/// The lanes of the worst warp are not kept.
AccessSample sample_of(const Json& from) {
  static constexpr std::array<std::string_view, 4> kMemories = {"none", "local", "shared",
                                                                "global"};
  AccessSample out;
  out.location = location_of(from);
  out.tensor = from.at("tensor");
  out.memory = named<Memory>(from.at("memory"), kMemories);
  const std::string operation = from.at("operation");
  out.is_async = operation == "async-copy", out.is_atomic = operation == "atomic";
  out.is_store = operation == "store";
  out.bytes = from.at("lane_bytes");
  out.requests = from.at("requests"), out.all_transfers = from.at("transfers");
  out.transfers = from.at("worst_transfers"), out.ideal = from.at("worst_ideal");
  return out;
}

Coverage coverage_of(const Json& from) {
  Coverage out;
  out.tensor = from.at("tensor");
  if (!from.at("dtype").is_null()) out.dtype = parse_dtype(from.at("dtype").get<std::string>());
  out.is_output = from.at("is_output");
  out.rows = from.at("shape").at(0), out.cols = from.at("shape").at(1);
  out.elements = from.at("elements"), out.read = from.at("read");
  out.written = from.at("written"), out.written_once = from.at("written_once");
  return out;
}

void read_counters(Report& out, const Json& from) {
  out.total = counters_of(from.at("total"));
  for (const Json& each : from.at("by_line"))
    out.by_line.push_back({location_of(each), counters_of(each.at("counters"))});
  for (const Json& each : from.at("by_access")) out.samples.push_back(sample_of(each));
  for (const Json& each : from.at("by_superstep"))
    out.by_superstep.push_back(
        {each.at("superstep"), each.at("times"), counters_of(each.at("counters"))});
}

}  // namespace

Report read_report(std::string_view text) {
  try {
    const Json from = Json::parse(text);
    Report out;
    out.kernel = from.at("kernel");
    out.problem = from.at("problem");
    if (!from.at("remark").is_null()) out.remark = from.at("remark");
    out.order = from.at("order");
    out.grid = dim3_of(from.at("grid"));
    out.block = dim3_of(from.at("block_dim"));
    out.shared_bytes = from.at("shared_bytes");
    out.summary = summary_of(from.at("summary"));
    for (const Json& each : from.at("findings")) out.findings.push_back(finding_of(each));
    for (const Json& each : from.at("suppressed"))
      out.suppressed.push_back({finding_of(each), each.at("reason")});
    out.unused_suppressions = from.at("unused_suppressions").get<std::vector<std::string>>();
    read_counters(out, from.at("counters"));
    for (const Json& each : from.at("tensors")) out.coverage.push_back(coverage_of(each));
    for (const Json& each : from.at("launches"))
      out.launches.push_back({each.at("kernel"), dim3_of(each.at("grid")),
                              dim3_of(each.at("block_dim")), each.at("times")});
    const Json& registers = from.at("device").at("registers");
    if (!registers.is_null()) out.registers = registers;
    return out;
  } catch (const Json::exception& error) {
    throw Error(Category::file, cat("this is no report of the checker: ", error.what()));
  }
}

}  // namespace tessera::check
