// Makes the report of a run: see finish_report.hpp.
#include "finish_report.hpp"

#include <algorithm>

#include "cuda_words.hpp"
#include "merge/causes.hpp"
#include "padding.hpp"
#include "shared_names.hpp"
#include "tessera/check/suppressions.hpp"

namespace tessera::check {

namespace {

Location location_of(const Here& here) { return {here.file, here.line, here.column}; }

/// The tensor and element, from region and offset.
void name_element(Mistake& mistake, const RunContext& context) {
  if (!mistake.is_raw) return;
  const auto number = static_cast<std::size_t>(std::stoi(mistake.tensor));
  const Region& region = context.regions[number - kFirstBuffer];
  const auto& buffer = context.launch.buffers[static_cast<std::size_t>(region.buffer)];
  mistake.tensor = buffer.name;
  const auto from_data =
      static_cast<std::int64_t>(region.begin - reinterpret_cast<std::uint64_t>(buffer.data)) +
      mistake.element[0];
  const auto bytes = static_cast<std::int64_t>(buffer.element_bytes);
  mistake.part =
      part_text(static_cast<std::uint64_t>(from_data % bytes),
                static_cast<std::uint64_t>(mistake.bytes), static_cast<std::uint64_t>(bytes));
  if (!coordinates_of(buffer.layout, from_data / bytes, mistake.element)) mistake.element.clear();
}

Finding finding_of(Mistake mistake, const RunContext& context) {
  name_element(mistake, context);
  const auto& launch = context.launch;
  Finding out;
  out.kind = mistake.kind;
  out.severity = mistake.severity;
  out.memory = mistake.memory;
  out.tensor = mistake.tensor;
  out.element = mistake.element;
  out.location = location_of(mistake.here);
  out.other = location_of(mistake.other_here);
  for (const int thread : {mistake.thread, mistake.other_thread}) {
    if (thread >= 0) out.threads.push_back(position_of(thread, launch.block));
  }
  out.block.linear = out.other_block.linear = -1;
  if (mistake.block >= 0) out.block = position_of(static_cast<int>(mistake.block), launch.grid);
  if (mistake.other_block >= 0)
    out.other_block = position_of(static_cast<int>(mistake.other_block), launch.grid);
  out.superstep = mistake.superstep;
  out.count = mistake.count;
  out.problem = problem_of(mistake, context);
  out.hint = launch.is_cuda ? in_cuda(hint_of(mistake)) : hint_of(mistake);
  return out;
}

/// How often each element of a tensor was touched, over all recorders.
Coverage coverage_of(const detail::Buffer& buffer, const RunContext& context,
                     const std::vector<const BlockRecorder*>& recorders) {
  Coverage out{.tensor = buffer.name, .dtype = buffer.dtype, .is_output = buffer.is_output};
  out.elements = buffer.layout.size();
  out.rows = buffer.layout.rank() > 0 ? buffer.layout.shape.mode(0).product() : 1;
  out.cols = 1;  // all other modes together
  for (int mode = 1; mode < buffer.layout.rank(); ++mode)
    out.cols *= buffer.layout.shape.mode(mode).product();
  const auto data = reinterpret_cast<std::uint64_t>(buffer.data);
  for (std::size_t i = 0; i < context.regions.size(); ++i) {
    const Region& region = context.regions[i];
    if (out.elements == 0 || data < region.begin || data >= region.end) continue;
    const auto start = (data - region.begin) / buffer.element_bytes;
    for (index_t element = 0; element < out.elements; ++element) {
      const auto at =
          static_cast<std::size_t>(static_cast<index_t>(start) + buffer.layout(element));
      bool read = false, updated = false;
      int written = 0;
      for (const auto* each : recorders) {
        const std::uint8_t bits = each->touches()[i + kFirstBuffer].at(at);
        read = read || (bits & Touches::kRead) != 0;
        updated = updated || (bits & Touches::kUpdated) != 0;
        written += (bits & Touches::kWritten) != 0 ? 1 : 0;
        written += (bits & Touches::kWrittenAgain) != 0 ? 1 : 0;
      }
      out.is_output = out.is_output || (buffer.is_bulk && written > 0);
      out.read += read ? 1 : 0;
      out.written += written > 0 || updated ? 1 : 0;
      out.written_once += written == 1 || (written == 0 && updated) ? 1 : 0;
    }
  }
  return out;
}

/// The findings of coverage: unused elements.
void judge_coverage(const Coverage& c, const RunContext& context, MergedBlocks& merged) {
  const auto report = [&](Kind kind, Severity severity, std::int64_t count, std::string detail) {
    if (count == 0) return;
    Mistake mistake;
    mistake.kind = kind;
    mistake.severity = severity;
    mistake.memory = Memory::global;
    mistake.tensor = c.tensor;
    mistake.count = count;
    mistake.detail = std::move(detail);
    merged.add_mistake(mistake);
  };
  const Severity severity = context.options.coverage ? Severity::error : Severity::note;
  if (!c.is_output) {
    report(Kind::never_read, severity, c.elements - c.read,
           cat(c.read, " of ", c.elements, " elements were read"));
    return;
  }
  report(Kind::never_written, context.options.fresh_outputs ? Severity::error : severity,
         c.elements - c.written, cat(c.written, " of ", c.elements, " elements were written"));
  report(
      Kind::written_twice, Severity::note, c.written - c.written_once,
      cat(c.written - c.written_once, " of ", c.elements, " elements were written more than once"));
}

/// A block that ended early leaves elements unwritten.
bool ends_a_block(const Mistake& m) {
  static constexpr Kind kKinds[] = {
      Kind::exception,        Kind::endless,         Kind::stack_overflow, Kind::crash,
      Kind::diverged_barrier, Kind::missing_barrier, Kind::mma_misuse,     Kind::deadlock,
      Kind::barrier_misuse,   Kind::stuck,           Kind::gate_phase,     Kind::gate_bytes,
      Kind::gate_arrivals,    Kind::mma_unordered,   Kind::cluster_exit};
  return std::find(std::begin(kKinds), std::end(kKinds), m.kind) != std::end(kKinds) ||
         (m.memory == Memory::none && (m.kind == Kind::misaligned || m.kind == Kind::stage_reused));
}

void add_head(Report& out, const RunContext& context) {
  const auto& launch = context.launch;
  out.kernel = launch.kernel;
  out.problem = context.options.problem;
  out.order = name(context.options.order);
  if (is_seeded(context.options.order)) out.order += cat(", seed ", context.options.seed);
  out.grid = launch.grid;
  out.block = launch.block;
  out.warp_size = launch.warp_size;
  out.shared_bytes = static_cast<std::int64_t>(launch.shared_bytes);
  out.registers = context.options.registers;
}

/// Races of one superstep at one line mostly lack the same barrier: if some of them are errors, a
/// warp barrier would not be enough for the others.
void blame_one_barrier(std::vector<Finding>& findings) {
  for (auto& f : findings) {
    if (f.kind != Kind::race || f.severity != Severity::warning) continue;
    const auto cause = std::find_if(findings.begin(), findings.end(), [&](const Finding& g) {
      return g.kind == Kind::race && g.severity == Severity::error && g.superstep == f.superstep &&
             g.memory == f.memory &&
             (g.location.line == f.location.line || g.other.line == f.other.line);
    });
    if (cause != findings.end())
      f.hint = cat("probably the barrier is missing that the race at line ", cause->location.line,
                   " needs too");
  }
}

/// The order among findings of one severity: a product without a wait lets copies come too early, a
/// copy without a wait causes races, a race causes a read of uninitialized data, and any of them
/// causes missing elements.
int rank_of(Kind kind) {
  if (kind == Kind::mma_not_awaited) return -1;
  if (kind == Kind::async_not_waited || kind == Kind::async_never_waited ||
      (kind >= Kind::bulk_not_awaited && kind < Kind::stuck))
    return 0;
  if (kind == Kind::race) return 1;
  return kind == Kind::never_read || kind == Kind::never_written ? 3 : 2;
}

/// A read beside an atomic update is covered by another rule.
bool is_of_guess(const Mistake& m, const RunContext& context) {
  return m.kind == Kind::race && m.is_atomic && !m.other_writes && !m.other_is_atomic &&
         context.launch.is_guess && context.launch.is_guess(m.other_here);
}

/// The worst first; of those the causes first.
void add_findings(Report& out, const std::vector<Mistake>& mistakes, const RunContext& context) {
  const bool has_fault = std::any_of(mistakes.begin(), mistakes.end(), [](const Mistake& m) {
    return m.severity == Severity::error && m.kind != Kind::deadlock && ends_a_block(m);
  });
  for (const auto& mistake : mistakes) {
    if (is_of_guess(mistake, context)) continue;
    if (has_fault && mistake.kind == Kind::deadlock) continue;  // others wait for that block
    out.findings.push_back(finding_of(mistake, context));
    const Severity severity = out.findings.back().severity;
    ++(severity == Severity::error     ? out.summary.errors
       : severity == Severity::warning ? out.summary.warnings
                                       : out.summary.notes);
  }
  std::stable_sort(out.findings.begin(), out.findings.end(), [](const auto& a, const auto& b) {
    const auto key = [](const Finding& f) {
      return std::tuple(-static_cast<int>(f.severity), rank_of(f.kind), f.location, f.other, f.kind,
                        f.tensor);
    };
    return key(a) < key(b);
  });
  blame_one_barrier(out.findings);
}

void add_summary(Report& out, const std::vector<Mistake>& mistakes, const RunContext& context,
                 Progress progress) {
  Summary& s = out.summary;
  s.blocks = std::max<index_t>(volume(context.launch.grid), 0);
  s.checked_blocks = progress.checked;
  s.timed_out = context.stop && progress.checked < progress.wanted;
  const bool is_endless = std::any_of(mistakes.begin(), mistakes.end(),
                                      [](const Mistake& m) { return m.kind == Kind::endless; });
  if (s.timed_out && !is_endless)
    s.incomplete =
        cat("time limit of ", context.options.time_limit_s, " s reached after ", progress.checked,
            " of ", progress.wanted, " blocks: raise --time-limit, or --blocks N for a sample");
  s.clean = s.errors == 0 && s.warnings == 0 && !s.timed_out;
}

}  // namespace

Report finish_report(const RunContext& context, MergedBlocks& merged,
                     const std::vector<const BlockRecorder*>& recorders, Progress progress) {
  const auto& launch = context.launch;
  Report out;
  add_head(out, context);
  const bool all_ended =
      progress.checked == progress.wanted &&
      std::none_of(merged.mistakes().begin(), merged.mistakes().end(), ends_a_block);
  const bool complete = all_ended && progress.checked == volume(launch.grid);
  if (context.options.correctness && all_ended) judge_unseen(context, recorders, merged);
  if (!recorders.empty() || volume(launch.grid) == 0) {
    for (const auto& buffer : launch.buffers) {
      if (launch.is_cuda) break;  // nothing says which of them are inputs, and of which launch
      out.coverage.push_back(coverage_of(buffer, context, recorders));
      if (context.options.correctness && complete && !recorders.empty())
        judge_coverage(out.coverage.back(), context, merged);
    }
  }
  merged.judge_unwritten();
  add_findings(out, merged.mistakes(), context);
  add_summary(out, merged.mistakes(), context, progress);
  for (const auto& [place, counters] : merged.lines()) {
    out.total += counters;
    out.by_line.push_back({{place.first, place.second, 0}, counters});
  }
  out.by_superstep = merged.supersteps();
  out.gate_phases = merged.gate_phases();
  const auto location_of = [](const Here& here) {
    return Location{here.file == nullptr ? "" : here.file, here.line, here.column};
  };
  for (const GateLines& each : merged.gates())
    out.gates.push_back({each.byte, location_of(each.waited), location_of(each.arrived),
                         cat("gate ", out.gates.size())});
  for (const TileLine& each : merged.tiles())
    out.bulk_tiles.emplace_back(location_of(each.here), each.tile);
  out.samples = merged.samples();
  std::stable_sort(out.samples.begin(), out.samples.end(),
                   [](const auto& a, const auto& b) { return a.location < b.location; });
  if (!launch.is_cuda)
    name_shared_tiles(out);  // first: suppressions use the names that reports show
  suppress(out, context.options.suppressions);
  merge_causes(out, merged.mistakes());
  return out;
}

}  // namespace tessera::check
