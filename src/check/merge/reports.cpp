// Adds the reports of launches: see reports.hpp.
#include "reports.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tessera::check {

namespace {

bool is_same(const Finding& a, const Finding& b) {
  return a.kind == b.kind && a.memory == b.memory && a.location == b.location &&
         a.other == b.other && a.tensor == b.tensor && a.kernel == b.kernel &&
         (a.kind != Kind::runtime_misuse || a.hint == b.hint);  // a call may be misused in two ways
}

std::int64_t& count_of(Summary& summary, Severity severity) {
  return severity == Severity::error     ? summary.errors
         : severity == Severity::warning ? summary.warnings
                                         : summary.notes;
}

void add_finding(Report& all, Finding finding) {
  const auto known = std::find_if(all.findings.begin(), all.findings.end(),
                                  [&](const Finding& each) { return is_same(each, finding); });
  if (known == all.findings.end()) {
    ++count_of(all.summary, finding.severity);
    const auto milder = std::find_if(all.findings.begin(), all.findings.end(),
                                     [&](const auto& f) { return f.severity < finding.severity; });
    all.findings.insert(milder, std::move(finding));
    return;
  }
  const std::int64_t count = known->count + finding.count;
  if (finding.severity > known->severity) {
    --count_of(all.summary, known->severity);
    all.findings.erase(known);
    finding.count = count;
    return add_finding(all, std::move(finding));
  }
  known->count = count;
}

void add_lines(Report& all, const std::vector<LineCounters>& lines) {
  for (const LineCounters& line : lines) {
    const auto at = std::lower_bound(
        all.by_line.begin(), all.by_line.end(), line,
        [](const LineCounters& a, const LineCounters& b) { return a.location < b.location; });
    if (at != all.by_line.end() && at->location == line.location) at->counters += line.counters;
    else all.by_line.insert(at, line);
  }
}

void add_supersteps(Report& all, const std::vector<SuperstepCounters>& supersteps) {
  for (const SuperstepCounters& step : supersteps) {
    const auto known =
        std::find_if(all.by_superstep.begin(), all.by_superstep.end(),
                     [&](const SuperstepCounters& each) { return each.name == step.name; });
    if (known == all.by_superstep.end()) {
      all.by_superstep.push_back(step);
      continue;
    }
    known->times += step.times;
    known->counters += step.counters;
  }
}

void add_samples(Report& all, std::vector<AccessSample>&& samples) {
  const auto key = [](const AccessSample& s) {
    return std::tie(s.location, s.memory, s.is_store, s.is_atomic, s.is_async, s.bytes, s.tensor);
  };
  for (AccessSample& sample : samples) {
    const auto at = std::lower_bound(all.samples.begin(), all.samples.end(), sample,
                                     [&](const auto& a, const auto& b) { return key(a) < key(b); });
    if (at == all.samples.end() || key(*at) != key(sample)) {
      all.samples.insert(at, std::move(sample));
      continue;
    }
    sample.requests += at->requests;
    sample.all_transfers += at->all_transfers;
    if (sample.transfers > at->transfers) {
      *at = std::move(sample);
      continue;
    }
    at->requests = sample.requests;
    at->all_transfers = sample.all_transfers;
  }
}

void add_suppressed(Report& all, std::vector<Suppressed>&& suppressed) {
  for (Suppressed& s : suppressed) {
    const auto is_known = [&](const Suppressed& k) {
      return k.finding.kind == s.finding.kind && k.finding.location == s.finding.location &&
             k.finding.tensor == s.finding.tensor;
    };
    if (std::none_of(all.suppressed.begin(), all.suppressed.end(), is_known))
      all.suppressed.push_back(std::move(s));
  }
  all.summary.suppressed = static_cast<std::int64_t>(all.suppressed.size());
}

void add_kernels(Report& all, const Report& next) {
  const std::vector<LaunchedKernel> one = {{next.kernel, next.grid, next.block}};
  for (const LaunchedKernel& each : next.launches.empty() ? one : next.launches) {
    const auto known = std::find_if(all.launches.begin(), all.launches.end(),
                                    [&](const auto& k) { return k.kernel == each.kernel; });
    if (known == all.launches.end()) all.launches.push_back(each);
    else known->launches += each.launches;
  }
}

}  // namespace

void merge_report(Report& all, Report&& next) {
  // a case of a sweep may launch nothing
  if ((all.launches.empty() || volume(all.grid) == 0) && !next.kernel.empty()) {
    all.grid = next.grid, all.block = next.block;
    all.order = next.order, all.warp_size = next.warp_size, all.registers = next.registers;
  }
  if (!next.kernel.empty()) add_kernels(all, next);
  all.shared_bytes = std::max(all.shared_bytes, next.shared_bytes);
  for (Finding& each : next.findings) {
    if (each.kernel.empty()) each.kernel = next.kernel;
    add_finding(all, std::move(each));
  }
  add_suppressed(all, std::move(next.suppressed));
  all.total += next.total;
  add_lines(all, next.by_line);
  add_supersteps(all, next.by_superstep);
  add_samples(all, std::move(next.samples));
  Summary& s = all.summary;
  s.blocks += next.summary.blocks;
  s.checked_blocks += next.summary.checked_blocks;
  s.timed_out = s.timed_out || next.summary.timed_out;
  if (s.incomplete.empty()) s.incomplete = std::move(next.summary.incomplete);
  if (s.incomplete_at.line == 0) s.incomplete_at = std::move(next.summary.incomplete_at);
  s.clean = s.errors == 0 && s.warnings == 0 && !s.timed_out && s.incomplete.empty();
}

}  // namespace tessera::check
