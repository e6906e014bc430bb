// The verdict on a kernel: see judge.hpp.
#include "judge.hpp"

#include <algorithm>
#include <chrono>

#include "check_file.hpp"
#include "plain_cuda/launch_source.hpp"
#include "sweep.hpp"
#include "tessera/check/format.hpp"
#include "tessera/core/text.hpp"

namespace tessera::inspect {

namespace {

/// The requested shape in three orders of the threads, then others if the launch depends on m, n,
/// k.
std::vector<check::SweepCase> cases_of(const JudgeRequest& request) {
  const CheckedKernel& kernel = request.kernel;
  std::vector<check::SweepCase> out;
  for (const auto order : {ThreadOrder::forward, ThreadOrder::backward, ThreadOrder::shuffled})
    out.push_back({.m = kernel.m, .n = kernel.n, .k = kernel.k, .order = order});
  const std::string used = plain_cuda::extents_used(request.launch);
  if (used.empty()) return out;
  const check::SweepTile tile =
      request.tile.empty() ? check::SweepTile{} : sweep_tile(parse_tile(request.tile));
  for (const check::SweepCase& one : check::sweep_cases(tile, sweep_extents(used))) {
    if (one.strides == check::ProductStrides::rows && one.order == ThreadOrder::forward)
      out.push_back(one);
  }
  return out;
}

class Judge {
 public:
  Judge(const JudgeRequest& request, const Reference& reference)
      : request_(request), reference_(reference) {
    check_.compilation.source = request.kernel.name;
    check_.compilation.what = request.kernel.name;
    check_.compilation.flags = request.flags;
    check_.launch = request.launch;
    check_.sized = true;
    check_.format = "json";
  }

  Verdict run() {
    const CheckedProgram program(check_);
    begin_ = Clock::now();
    const std::vector<check::SweepCase> cases = cases_of(request_);
    verdict_.cases = cases.size();
    for (const check::SweepCase& one : cases) {
      if (seconds_left() <= 0) {
        verdict_.incomplete = cat("the time limit of ", request_.kernel.seconds, " s");
        break;
      }
      judge(program, one);
      if (!verdict_.reasons.empty() || !verdict_.incomplete.empty()) break;
    }
    if (verdict_.not_compared > 0 && verdict_.not_compared == verdict_.judged &&
        verdict_.incomplete.empty())
      verdict_.incomplete = cat("the reference raises ", verdict_.why_not);
    return verdict_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  double seconds_left() const {
    return request_.kernel.seconds - std::chrono::duration<double>(Clock::now() - begin_).count();
  }

  void judge(const CheckedProgram& program, const check::SweepCase& one) {
    const process::TemporaryFolder arrays;
    check_.arrays = arrays.path().string();
    check_.kernel = request_.kernel;
    check_.kernel.m = one.m, check_.kernel.n = one.n, check_.kernel.k = one.k;
    check_.kernel.order = name(one.order);
    check_.kernel.seconds = std::max(1, static_cast<int>(seconds_left()));
    const FileReport said = program.run(check_);
    if (said.printed.empty()) {
      verdict_.incomplete = "see the program's message on stderr";
      return;
    }
    const check::Report report = check::read_report(said.printed);
    for (const check::Finding& f : report.findings) {
      const std::string place =
          f.location.line > 0 ? cat(", at ", f.location.file, ":", f.location.line) : std::string();
      const Reason reason{std::string(check::name(f.kind)), cat(f.problem, place), "", one};
      // A race between threads of one warp is a warning: the result is right only while they run in
      // step.
      if (f.severity == check::Severity::error ||
          (f.severity == check::Severity::warning && f.kind == check::Kind::race))
        verdict_.reasons.push_back(reason);
      else if (f.severity == check::Severity::warning) remark(reason, place);
    }
    if (!report.summary.incomplete.empty()) verdict_.incomplete = report.summary.incomplete;
    const std::vector<JudgedLaunch> launches = read_launches(arrays.path());
    if (verdict_.incomplete.empty()) compare(launches, one);
    if (verdict_.incomplete.empty() || !verdict_.reasons.empty()) ++verdict_.judged;
  }

  void compare(const std::vector<JudgedLaunch>& launches, const check::SweepCase& one) {
    const process::TemporaryFolder exact;
    JudgedCase found = reference_.judge(launches, {{"m", one.m}, {"n", one.n}, {"k", one.k}},
                                        exact.path(), std::max(0.1, seconds_left()));
    if (found.timed_out) {
      verdict_.incomplete =
          cat(request_.reference, " was still running at the time limit of ",
              request_.kernel.seconds, " s: raise --time-limit, or make the reference faster");
      return;
    }
    if (!found.why_not.empty()) {
      if (verdict_.not_compared++ == 0) verdict_.why_not = std::move(found.why_not);
      return;
    }
    for (const JudgedLaunch& each : launches)
      for (const NamedArray& out : each.outputs)
        verdict_.compared += static_cast<std::size_t>(out.array.count());
    for (WrongResult& wrong : found.wrong) {
      const bool is_known = std::any_of(  // from an earlier launch of this case
          verdict_.reasons.begin(), verdict_.reasons.end(),
          [&](const Reason& each) { return each.kind == wrong.kind && each.text == wrong.text; });
      if (!is_known) verdict_.reasons.push_back({wrong.kind, wrong.text, wrong.data, one});
    }
  }

  void remark(const Reason& reason, const std::string& place) {
    const auto is_known = [&](const Reason& each) {
      return each.kind == reason.kind && each.text.ends_with(place);
    };
    if (std::none_of(verdict_.remarks.begin(), verdict_.remarks.end(), is_known))
      verdict_.remarks.push_back(reason);
  }

  const JudgeRequest& request_;
  const Reference& reference_;
  FileCheck check_;
  Clock::time_point begin_;
  Verdict verdict_;
};

}  // namespace

Verdict judge(const JudgeRequest& request, const Reference& reference) {
  return Judge(request, reference).run();
}

}  // namespace tessera::inspect
