// Reports of runs that did not complete: see unfinished.hpp and check/file.hpp.
#include "unfinished.hpp"

#include "finish_report.hpp"
#include "tessera/check/file.hpp"

namespace tessera::check {

Report report_of_exit(const BlockRecorder& recorder) {
  const RunContext& context = recorder.context();
  MergedBlocks merged(context.regions);
  merged.add_mistake(recorder.exit_at());
  Report out = finish_report(context, merged, {}, {});
  out.coverage.clear();
  return out;
}

Report report_of_crash(const std::string& program, Kind kind, const std::string& how) {
  Report out;
  out.kernel = program;
  out.order = "unknown";
  Finding finding;
  finding.kind = kind;
  finding.block.linear = finding.other_block.linear = -1;
  finding.problem = cat("the program of ", program, " ", how, " before its report");
  Mistake same_kind;
  same_kind.kind = kind;
  finding.hint = hint_of(same_kind);
  out.findings.push_back(finding);
  out.summary.errors = 1;
  out.summary.clean = false;
  out.summary.timed_out = kind == Kind::endless;
  return out;
}

}  // namespace tessera::check
